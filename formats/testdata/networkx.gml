graph [
  node [
    id 0
    label "N00"
    lat 50.0
    lon 6.0
    kind "crossing"
    speed 30.0
  ]
  node [
    id 1
    label "N01"
    lat 50.125
    lon 6.0625
    kind "road"
    speed 31.5
  ]
  node [
    id 2
    label "N02"
    lat 50.25
    lon 6.125
    kind "road"
    speed 33.0
  ]
  node [
    id 3
    label "N03"
    lat 50.375
    lon 6.1875
    kind "crossing"
  ]
  node [
    id 4
    label "N04"
    lat 50.5
    lon 6.25
    kind "road"
    speed 36.0
  ]
  node [
    id 5
    label "N05"
    lat 50.625
    lon 6.3125
    kind "road"
    speed 37.5
  ]
  node [
    id 6
    label "N06"
    lat 50.75
    lon 6.375
    kind "crossing"
    speed 39.0
  ]
  node [
    id 7
    label "N07"
    lat 50.875
    lon 6.4375
    kind "road"
  ]
  node [
    id 8
    label "N08"
    lat 51.0
    lon 6.5
    kind "road"
    speed 42.0
  ]
  node [
    id 9
    label "N09"
    lat 51.125
    lon 6.5625
    kind "crossing"
    speed 43.5
  ]
  node [
    id 10
    label "N10"
    lat 51.25
    lon 6.625
    kind "road"
    speed 45.0
  ]
  node [
    id 11
    label "N11"
    lat 51.375
    lon 6.6875
    kind "road"
  ]
  edge [
    source 0
    target 1
    weight 0.5
    name "it's 0"
  ]
  edge [
    source 0
    target 4
    weight 2.0
    name "it's 0"
  ]
  edge [
    source 1
    target 2
    weight 1.5
    name "it's 1"
  ]
  edge [
    source 1
    target 5
    weight 2.0
    name "it's 1"
  ]
  edge [
    source 2
    target 3
    weight 2.5
    name "it's 2"
  ]
  edge [
    source 2
    target 6
    weight 2.0
    name "it's 2"
  ]
  edge [
    source 3
    target 4
    weight 3.5
    name "it's 3"
  ]
  edge [
    source 3
    target 7
    weight 2.0
    name "it's 3"
  ]
  edge [
    source 4
    target 5
    weight 4.5
    name "it's 4"
  ]
  edge [
    source 4
    target 8
    weight 2.0
    name "it's 4"
  ]
  edge [
    source 5
    target 6
    weight 0.5
    name "it's 5"
  ]
  edge [
    source 5
    target 9
    weight 2.0
    name "it's 5"
  ]
  edge [
    source 6
    target 7
    weight 1.5
    name "it's 6"
  ]
  edge [
    source 6
    target 10
    weight 2.0
    name "it's 6"
  ]
  edge [
    source 7
    target 8
    weight 2.5
    name "it's 7"
  ]
  edge [
    source 8
    target 9
    weight 3.5
    name "it's 8"
  ]
  edge [
    source 9
    target 10
    weight 4.5
    name "it's 9"
  ]
]
