Creator "igraph version 0.10.2 Tue Nov 17 02:26:33 2026"
Version 1
graph
[
  directed 0
  node
  [
    id 0
    name "N00"
  ]
  node
  [
    id 1
    name "N01"
  ]
  node
  [
    id 2
    name "N04"
  ]
  node
  [
    id 3
    name "N02"
  ]
  node
  [
    id 4
    name "N05"
  ]
  node
  [
    id 5
    name "N03"
  ]
  node
  [
    id 6
    name "N06"
  ]
  node
  [
    id 7
    name "N07"
  ]
  node
  [
    id 8
    name "N08"
  ]
  node
  [
    id 9
    name "N09"
  ]
  node
  [
    id 10
    name "N10"
  ]
  node
  [
    id 11
    name "N11"
  ]
  edge
  [
    source 1
    target 0
    weight 0.5
  ]
  edge
  [
    source 2
    target 0
    weight 2
  ]
  edge
  [
    source 3
    target 1
    weight 1.5
  ]
  edge
  [
    source 4
    target 1
    weight 2
  ]
  edge
  [
    source 5
    target 3
    weight 2.5
  ]
  edge
  [
    source 6
    target 3
    weight 2
  ]
  edge
  [
    source 5
    target 2
    weight 3.5
  ]
  edge
  [
    source 7
    target 5
    weight 2
  ]
  edge
  [
    source 4
    target 2
    weight 4.5
  ]
  edge
  [
    source 8
    target 2
    weight 2
  ]
  edge
  [
    source 6
    target 4
    weight 0.5
  ]
  edge
  [
    source 9
    target 4
    weight 2
  ]
  edge
  [
    source 7
    target 6
    weight 1.5
  ]
  edge
  [
    source 10
    target 6
    weight 2
  ]
  edge
  [
    source 8
    target 7
    weight 2.5
  ]
  edge
  [
    source 9
    target 8
    weight 3.5
  ]
  edge
  [
    source 10
    target 9
    weight 4.5
  ]
]
