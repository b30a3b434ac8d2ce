// The programs that draw nodes and edges.

export const nodeVertex = `#version 300 es
uniform vec2 centre;    // of the camera
uniform vec2 unit;      // clip units of one unit of the plane
uniform vec2 range;     // lowest and highest value
uniform float size;     // of a node, in pixels
uniform float markSize; // of one that is marked
uniform bool marks;     // draw marked nodes only
in vec2 place;
in float value;
in float flags;
out float shade;
flat out int bits;
void main() {
  bits = int(flags);
  bool marked = (bits & 51) != 0; // measured, pending, suggested, selected
  shade = (value - range.x) / max(range.y - range.x, 1e-30);
  gl_Position = vec4((place - centre) * unit, 0.0, 1.0);
  gl_PointSize = marked ? markSize : size;
  if ((bits & 16) != 0) gl_PointSize = markSize * 2.0;
  if ((bits & 32) != 0) gl_PointSize = markSize * 2.2;
  if (marked != marks) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;

export const nodeFragment = `#version 300 es
precision highp float;
uniform sampler2D ramp;
uniform bool model;     // there are values to colour by
uniform vec3 plain;     // colour without them
uniform vec3 ink;
uniform vec3 paper;
uniform float markSize;
uniform float size;
in float shade;
flat in int bits;
out vec4 colour;

// star is the distance from the edge of a five-pointed star, negative inside.
float star(vec2 p, float r) {
  const vec2 k1 = vec2(0.809016994, -0.587785252), k2 = vec2(-0.809016994, -0.587785252);
  p.x = abs(p.x);
  p -= 2.0 * max(dot(k1, p), 0.0) * k1;
  p -= 2.0 * max(dot(k2, p), 0.0) * k2;
  p.x = abs(p.x);
  p.y -= r;
  vec2 ba = 0.45 * vec2(-k1.y, k1.x) - vec2(0.0, 1.0);
  float h = clamp(dot(p, ba) / dot(ba, ba), 0.0, r);
  return length(p - ba * h) * sign(p.y * ba.x - p.x * ba.y);
}

// layer puts a colour over what is there, by how much of it covers the pixel.
void layer(vec3 c, float cover) {
  cover = clamp(cover, 0.0, 1.0);
  colour = vec4(mix(colour.rgb, c, cover), max(colour.a, cover));
}

void main() {
  bool marked = (bits & 51) != 0;
  float wide = marked ? markSize : size;
  if ((bits & 16) != 0) wide = markSize * 2.0;
  if ((bits & 32) != 0) wide = markSize * 2.2;
  vec2 p = (gl_PointCoord - 0.5) * wide * vec2(1.0, -1.0); // in pixels, y up
  float r = length(p);
  vec3 fill = model ? texture(ramp, vec2(clamp(shade, 0.002, 0.998), 0.5)).rgb : plain;
  if ((bits & 12) != 0) fill = mix(fill, paper, 0.55);     // abandoned, or not allowed
  float disc = marked ? markSize / 2.0 - 1.0 : size / 2.0;
  float line = max(1.5, markSize / 7.0);
  colour = vec4(fill, 0.0);
  if ((bits & 16) != 0) {                                   // suggested: a star
    float d = star(p, markSize * 0.92);
    layer(paper, 0.5 - d + 2.0);
    layer(ink, 0.5 - d);
    layer(paper, 0.5 - d - line * 0.6);
    layer(fill, 0.5 - d - line * 1.1);
  } else if ((bits & 3) != 0) {                             // measured or pending: an outline
    layer(paper, disc + 1.5 - r);
    layer(ink, disc + 0.5 - r);
    layer(paper, disc + 0.5 - line - r);                    // a gap: dark values are outlined, too
    layer(fill, disc + 0.5 - line * 1.6 - r);
    if ((bits & 2) != 0) {                                  // pending: hatched
      float stripe = abs(mod(p.x + p.y, line * 3.2) - line * 1.6);
      layer(ink, min(line * 0.75 - stripe + 0.5, disc - r));
    }
  } else {
    layer(fill, disc - r + 0.5);
    if ((bits & 4) != 0) {                                  // abandoned: a cross
      float cross = min(abs(p.x - p.y), abs(p.x + p.y)) * 0.7071;
      layer(ink, min(1.2 - cross, disc - r + 0.5));
    }
  }
  if ((bits & 32) != 0) layer(ink, line * 0.6 - abs(r - markSize * 1.0) + 0.5); // selected: a ring around
  if (colour.a < 0.01) discard;
}`;

export const edgeVertex = `#version 300 es
uniform vec2 centre;
uniform vec2 unit;
in vec2 place;
void main() { gl_Position = vec4((place - centre) * unit, 0.0, 1.0); }`;

export const edgeFragment = `#version 300 es
precision mediump float;
uniform vec4 line;
out vec4 colour;
void main() { colour = line; }`;
