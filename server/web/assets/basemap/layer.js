// @ts-check
// The background map: tiles of the server, drawn under the nodes by the same graphics and the same
// camera. Pictures are shown as they are, paler; vector tiles are drawn to pictures first.

import { call } from "../api.js";
import { program } from "../scene.js";
import { inWorld, parentOf, placeOf, tilesIn, zoomFor } from "./mercator.js";
import { readTile } from "./mvt.js";
import { drawTile, isUsed } from "./style.js";

/** @typedef {import("./mercator.js").Tile} Tile */

const wide = { mvt: 512, png: 256, jpeg: 256, webp: 256 }; // CSS pixels of a tile
const mostSeen = 60; // tiles at a time: where there would be more, tiles of a lower zoom are shown
const mostPixels = 24e6; // of all textures: 96 MB
const mostLoading = 6;
const mostSide = 2048; // pixels of a picture
const sharper = 6; // zooms beyond those of the archive at which vector tiles are drawn anew
const again = 5000; // milliseconds before a tile is asked for that could not be had
const mostRead = 12; // vector tiles kept as layers

const vertex = `#version 300 es
uniform vec2 corner;   // of the tile, in clip units
uniform vec2 unit;     // clip units of a unit of the map
in vec4 spot;          // x, y from the corner, and the place on the picture
out vec2 at;
void main() {
  at = spot.zw;
  gl_Position = vec4(corner + spot.xy * unit, 0.0, 1.0);
}`;

const fragment = `#version 300 es
precision highp float;
uniform sampler2D picture;
uniform vec3 paper;
uniform float share;   // of the picture
in vec2 at;
out vec4 colour;
void main() {
  vec4 tile = texture(picture, at); // its colours are multiplied by its opacity
  colour = vec4(mix(paper, tile.rgb + (1.0 - tile.a) * paper, share), 1.0);
}`;

const key = (/** @type {Tile} */ { z, x, y }) => `${z}/${x}/${y}`;

export class Basemap {
  // about is what the server says of the map; repaint is called when there is more to draw, and
  // failed when tiles cannot be had.
  /** @param {WebGL2RenderingContext} gl @param {any} about @param {import("./mercator.js").Projection} projection @param {{ repaint: () => void, failed: (error: any) => void }} tell */
  constructor(gl, about, projection, { repaint, failed }) {
    this.gl = gl;
    this.about = about;
    this.projection = projection;
    this.repaint = repaint;
    this.failed = failed;
    /** @type {Map<string, { texture: WebGLTexture | null, pixels: number }>} */
    this.tiles = new Map(); // what there is, the one used last at the end; no texture: there is no such tile
    /** @type {Map<string, AbortController>} */
    this.loading = new Map();
    /** @type {Map<string, number>} */
    this.missed = new Map(); // when tiles could not be had
    /** @type {Map<string, Promise<import("./mvt.js").Layer[] | null>>} */
    this.read = new Map(); // layers of vector tiles
    this.ending = new AbortController();
    this.pixels = 0;
    this.dark = false;
    this.program = program(gl, vertex, fragment);
    this.state = /** @type {WebGLVertexArrayObject} */ (gl.createVertexArray());
    this.buffer = /** @type {WebGLBuffer} */ (gl.createBuffer());
  }

  get isVector() {
    return this.about.type === "mvt";
  }

  // draw draws the tiles that a camera sees, and asks for those that are missing.
  /** @param {import("../camera.js").Camera} camera @param {number[]} paper @param {boolean} dark */
  draw(camera, paper, dark) {
    if (this.isVector && dark !== this.dark) this.forget();
    this.dark = dark;
    const seen = this.seenBy(camera);
    const shown = new Map(seen.flatMap((tile) => this.standIn(tile) ?? []).map((t) => [key(t), t]));
    const { gl } = this;
    gl.useProgram(this.program);
    gl.bindVertexArray(this.state);
    gl.uniform3fv(gl.getUniformLocation(this.program, "paper"), paper);
    gl.uniform1f(gl.getUniformLocation(this.program, "share"), this.isVector ? 1 : dark ? 0.55 : 0.75);
    gl.uniform2f(gl.getUniformLocation(this.program, "unit"), (2 * camera.zoom) / camera.width, (2 * camera.zoom) / camera.height);
    for (const tile of [...shown.values()].sort((a, b) => a.z - b.z)) this.put(tile, camera);
    gl.bindVertexArray(null);
    this.ask(seen);
  }

  // seenBy are the tiles to show.
  /** @param {import("../camera.js").Camera} camera @returns {Tile[]} */
  seenBy(camera) {
    const { min_zoom, max_zoom, type, bounds: [west, south, east, north] } = this.about;
    const dense = this.isVector ? 1 : Math.min(2, window.devicePixelRatio || 1);
    const highest = max_zoom + (this.isVector ? sharper : 0);
    const [x0, y0, x1, y1] = camera.box();
    for (let z = Math.min(highest, zoomFor(camera.zoom, this.projection, wide[type] / dense)); z >= min_zoom; z--) {
      const tiles = tilesIn([x0, Math.max(y0, south), x1, Math.min(y1, north)], z, this.projection, mostSeen);
      if (tiles) return tiles.filter((t) => this.within(t, west, east));
    }
    return [];
  }

  // within tells whether a tile meets the longitudes of the archive.
  /** @param {Tile} tile @param {number} west @param {number} east */
  within(tile, west, east) {
    const { z, x } = inWorld(tile);
    const degrees = 360 / 2 ** z;
    return x * degrees - 180 < east && (x + 1) * degrees - 180 > west;
  }

  // standIn is the tile to show in the place of one: itself, or the smallest one around it that is
  // there; null: none.
  /** @param {Tile} tile @returns {Tile | null} */
  standIn(tile) {
    for (let by = 0; tile.z - by >= this.about.min_zoom; by++) {
      const at = parentOf(tile, by);
      const name = key(inWorld(at));
      const there = this.tiles.get(name);
      if (!there?.texture) continue;
      this.tiles.delete(name); // used last
      this.tiles.set(name, there);
      return at;
    }
    return null;
  }

  /** @param {Tile} tile @param {import("../camera.js").Camera} camera */
  put(tile, camera) {
    const { gl } = this;
    const { x, y, width, heights } = placeOf(tile, this.projection, (360 / 2 ** tile.z) * this.projection.shrink * camera.zoom);
    const corners = new Float32Array(heights.flatMap((h, k) => {
      const v = k / (heights.length - 1);
      return [0, h, 0, v, width, h, 1, v];
    }));
    const at = gl.getAttribLocation(this.program, "spot");
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STREAM_DRAW);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, 4, gl.FLOAT, false, 0, 0);
    // The difference is taken here, in double precision: near the ground, that of the graphics is too low.
    gl.uniform2f(gl.getUniformLocation(this.program, "corner"), ((x - camera.x) * 2 * camera.zoom) / camera.width, ((y - camera.y) * 2 * camera.zoom) / camera.height);
    gl.bindTexture(gl.TEXTURE_2D, this.tiles.get(key(inWorld(tile)))?.texture ?? null);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 2 * heights.length);
  }

  // ask gets tiles that are missing, some at a time, and ends requests for those no longer seen.
  /** @param {Tile[]} seen */
  ask(seen) {
    const wanted = new Map(seen.map((t) => inWorld(t)).map((t) => [key(t), t]));
    for (const [name, ending] of this.loading) if (!wanted.has(name)) ending.abort();
    for (const [name, tile] of wanted) {
      if (this.loading.size >= mostLoading) return;
      if (this.tiles.has(name) || this.loading.has(name) || performance.now() - (this.missed.get(name) ?? -Infinity) < again) continue;
      this.load(tile);
    }
  }

  /** @param {Tile} tile */
  async load(tile) {
    const name = key(tile), ending = new AbortController();
    this.loading.set(name, ending);
    try {
      const picture = await (this.isVector ? this.paintVector(tile, ending.signal) : this.fetchPicture(tile, ending.signal));
      if (!ending.signal.aborted) this.keep(name, picture);
      this.missed.delete(name);
    } catch (error) {
      if (!ending.signal.aborted && !this.ending.signal.aborted) {
        this.missed.set(name, performance.now());
        setTimeout(() => this.repaint(), again);
        if (error.kind !== "unreachable") this.failed(error); // the head of the page tells of that
      }
    } finally {
      this.loading.delete(name);
      if (!this.ending.signal.aborted) this.repaint();
    }
  }

  /** @param {Tile} tile @param {AbortSignal} signal @returns {Promise<ArrayBuffer | null>} */
  async fetchTile({ z, x, y }, signal) {
    const response = await call("GET", `/v1/basemap/${z}/${x}/${y}?version=${this.about.version}`, { signal });
    return response.status === 204 ? null : response.arrayBuffer();
  }

  /** @param {Tile} tile @param {AbortSignal} signal */
  async fetchPicture(tile, signal) {
    const bytes = await this.fetchTile(tile, signal);
    return bytes && createImageBitmap(new Blob([bytes], { type: `image/${this.about.type}` }));
  }

  // paintVector draws a vector tile, or a part of one of the highest zoom that there is.
  /** @param {Tile} tile @param {AbortSignal} signal */
  async paintVector(tile, signal) {
    const over = Math.max(0, tile.z - this.about.max_zoom);
    const source = parentOf(tile, over);
    const layers = await this.layersOf(source);
    if (!layers || signal.aborted) return null;
    const dense = Math.min(2, window.devicePixelRatio || 1);
    const canvas = new OffscreenCanvas(wide.mvt * dense, wide.mvt * dense);
    const across = 2 ** over;
    drawTile(/** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d")), layers, {
      size: canvas.width, zoom: tile.z, dark: this.dark, dense, across, left: tile.x - source.x * across, top: tile.y - source.y * across,
    });
    return canvas;
  }

  // layersOf reads a vector tile, once for all its parts.
  /** @param {Tile} tile */
  async layersOf(tile) {
    const name = key(tile);
    let layers = this.read.get(name);
    if (!layers) {
      layers = this.fetchTile(tile, this.ending.signal).then((bytes) => bytes && readTile(new Uint8Array(bytes), isUsed));
      layers.catch(() => this.read.delete(name));
    }
    this.read.delete(name);
    this.read.set(name, layers); // used last
    for (const old of this.read.keys()) if (this.read.size > mostRead) this.read.delete(old);
    return layers;
  }

  // keep makes a texture of a picture, null for a tile that does not exist, and forgets those that
  // were not used for longest.
  /** @param {string} name @param {ImageBitmap | OffscreenCanvas | null} picture */
  keep(name, picture) {
    const { gl } = this;
    const pixels = picture ? picture.width * picture.height : 0;
    if (!picture || Math.max(picture.width, picture.height) > mostSide) {
      this.tiles.set(name, { texture: null, pixels: 0 });
      return;
    }
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, picture);
    gl.generateMipmap(gl.TEXTURE_2D);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    this.tiles.set(name, { texture, pixels });
    this.pixels += pixels;
    for (const [old, { texture: unused, pixels: freed }] of this.tiles) {
      if ((this.pixels <= mostPixels && this.tiles.size <= 2000) || this.tiles.size <= mostSeen) break;
      gl.deleteTexture(unused);
      this.tiles.delete(old);
      this.pixels -= freed;
    }
  }

  // forget drops all pictures: they are drawn anew in other colours.
  forget() {
    for (const { texture } of this.tiles.values()) this.gl.deleteTexture(texture);
    for (const ending of this.loading.values()) ending.abort();
    this.tiles.clear();
    this.pixels = 0;
  }

  // close ends what is under way, and frees the graphics memory.
  close() {
    this.ending.abort();
    this.forget();
    this.gl.deleteProgram(this.program);
    this.gl.deleteBuffer(this.buffer);
    this.gl.deleteVertexArray(this.state);
  }
}
