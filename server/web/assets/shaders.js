// @ts-check
// The programs that draw nodes, marks and edges. Positions come as whole numbers up to top.

const position = `
uniform float top;
uniform vec2 centre;    // of the camera, as a share of the frame
uniform vec2 unit;      // clip units of the whole frame
vec2 clip(float x, float y) { return (vec2(x, y) / top - centre) * unit; }`;

export const nodeVertex = `#version 300 es
${position}
uniform float size;     // of a node, in pixels
in float x;
in float y;
in float value;         // from 0 to 1
in float flags;
out float shade;
flat out float wide;
void main() {
  shade = value;
  wide = (int(flags) & 8) != 0 ? max(1.0, size * 0.55) : size; // not allowed: small
  gl_PointSize = wide + 1.0;
  gl_Position = x == top && y == top ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(clip(x, y), 0.0, 1.0);
}`;

export const nodeFragment = `#version 300 es
precision highp float;
uniform sampler2D ramp;
uniform bool model;     // there are values to colour by
uniform vec3 plain;     // colour without them
in float shade;
flat in float wide;
out vec4 colour;
void main() {
  float r = length((gl_PointCoord - 0.5) * (wide + 1.0));
  float cover = clamp(wide / 2.0 - r + 0.5, 0.0, 1.0);
  if (cover < 0.01) discard;
  colour = vec4(model ? texture(ramp, vec2(clamp(shade, 0.002, 0.998), 0.5)).rgb : plain, cover);
}`;

export const markVertex = `#version 300 es
${position}
uniform float size;
in float x;
in float y;
in float value;
in float flags;
out float shade;
flat out int bits;
void main() {
  bits = int(flags);
  shade = value;
  gl_PointSize = size + 4.0;
  gl_Position = x == top && y == top ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(clip(x, y), 0.0, 1.0);
}`;

export const markFragment = `#version 300 es
precision highp float;
uniform sampler2D ramp;
uniform bool model;
uniform vec3 plain;
uniform vec3 ink;
uniform vec3 paper;
uniform float size;
in float shade;
flat in int bits;
out vec4 colour;

// layer puts a colour over what is there, by how much of it covers the pixel.
void layer(vec3 c, float cover) {
  cover = clamp(cover, 0.0, 1.0);
  colour = vec4(mix(colour.rgb, c, cover), max(colour.a, cover));
}

void main() {
  vec2 p = (gl_PointCoord - 0.5) * (size + 4.0) * vec2(1.0, -1.0); // in pixels, y up
  float r = length(p);
  float disc = size / 2.0;
  float line = max(1.5, size / 8.0);
  vec3 fill = model ? texture(ramp, vec2(clamp(shade, 0.002, 0.998), 0.5)).rgb : plain;
  colour = vec4(fill, 0.0);
  if ((bits & 3) != 0) {                                    // measured, or reserved: outlined
    layer(paper, disc + 1.0 - r + 0.5);
    layer(ink, disc - r + 0.5);
    layer(paper, disc - line - r + 0.5);
    layer(fill, disc - 1.6 * line - r + 0.5);
    if ((bits & 2) != 0) {                                  // reserved: striped
      float stripe = abs(mod(p.x + p.y, 4.0 * line) - 2.0 * line) * 0.7071;
      layer(ink, min(line * 0.75 - stripe + 0.5, disc - r));
    }
  } else if ((bits & 4) != 0) {                             // abandoned: a cross
    float cross = min(abs(p.x - p.y), abs(p.x + p.y)) * 0.7071;
    layer(paper, min(line + 1.0 - cross, disc - r + 0.5));
    layer(ink, min(line - cross, disc - r - 0.5));
  }
  if (colour.a < 0.01) discard;
}`;

// An edge is a strip of four corners, made in the shader: lines of WebGL are one pixel wide.
export const edgeVertex = `#version 300 es
${position}
uniform vec2 screen;    // half its size, in pixels
uniform float size;     // width of an edge, in pixels
in vec4 ends;           // x, y of one end, x, y of the other
in vec2 values;
out float shade;
out float across;       // pixels from the middle of the edge
void main() {
  vec2 a = clip(ends.x, ends.y), b = clip(ends.z, ends.w);
  vec2 along = (b - a) * screen;
  float far = length(along);
  vec2 aside = far > 0.0 ? vec2(-along.y, along.x) / far : vec2(0.0, 1.0);
  float end = float(gl_VertexID & 1);
  across = (float(gl_VertexID >> 1) * 2.0 - 1.0) * (size / 2.0 + 1.0);
  shade = mix(values.x, values.y, end);
  gl_Position = vec4(mix(a, b, end) + aside * across / screen, 0.0, 1.0);
}`;

export const edgeFragment = `#version 300 es
precision highp float;
uniform sampler2D ramp;
uniform bool model;
uniform vec4 line;      // colour without values
uniform float size;
in float shade;
in float across;
out vec4 colour;
void main() {
  float cover = clamp(size / 2.0 - abs(across) + 0.5, 0.0, 1.0);
  colour = model ? vec4(texture(ramp, vec2(clamp(shade, 0.002, 0.998), 0.5)).rgb, cover) : vec4(line.rgb, line.a * cover);
}`;
