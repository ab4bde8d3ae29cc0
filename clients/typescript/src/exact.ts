/**
 * JSON without loss: what is written is the value, and what is read is the text. A value that either side cannot hold
 * exactly is an error and never another value.
 */

import { BadArguments } from "./errors.js";

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const maxDepth = 512;

/**
 * Writes a value as JSON. Members with the value undefined are left out. It throws BadArguments for what JSON does not
 * hold: NaN, Infinity, BigInt, functions, symbols, bytes, instances of classes, accessors, holes, lone surrogates, circular
 * objects, and for the key `__proto__`.
 */
export function encode(value: unknown): string {
  return write(value, "", []);
}

function write(value: unknown, pointer: string, open: object[]): string {
  switch (typeof value) {
    case "string":
      return quote(value, pointer);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw new BadArguments(`JSON has no ${value}`, pointer);
      return Object.is(value, -0) ? "-0" : String(value);
    case "object":
      return value === null ? "null" : writeObject(value, pointer, open);
    default:
      throw new BadArguments(`JSON has no ${typeof value}`, pointer);
  }
}

function writeObject(value: object, pointer: string, open: object[]): string {
  if (open.includes(value)) throw new BadArguments("the object contains itself", pointer);
  if (open.length >= maxDepth) throw new BadArguments(`the value is deeper than ${maxDepth} levels`, pointer);
  open.push(value);
  const text = Array.isArray(value) ? writeArray(value, pointer, open) : writeMembers(value, pointer, open);
  open.pop();
  return text;
}

function writeArray(value: unknown[], pointer: string, open: object[]): string {
  const parts: string[] = [];
  for (let i = 0; i < value.length; i++) {
    const at = `${pointer}/${i}`;
    parts.push(write(dataOf(value, String(i), at), at, open));
  }
  return `[${parts.join(",")}]`;
}

function writeMembers(value: object, pointer: string, open: object[]): string {
  if (!isPlain(value)) throw new BadArguments(`JSON has no instance of ${nameOf(value)}; pass a plain object`, pointer);
  const parts: string[] = [];
  for (const key of Reflect.ownKeys(value)) {
    if (!Object.prototype.propertyIsEnumerable.call(value, key)) continue;
    if (typeof key === "symbol") throw new BadArguments("JSON has no symbol as a key", pointer);
    const at = `${pointer}/${escapePointer(key)}`;
    if (key === "__proto__") throw new BadArguments("the key __proto__ is refused", at);
    const member = dataOf(value, key, at);
    if (member !== undefined) parts.push(`${quote(key, at)}:${write(member, at, open)}`);
  }
  return `{${parts.join(",")}}`;
}

/** The value of a property, which must not be computed by a getter: it could differ from call to call. */
function dataOf(value: object, key: string, pointer: string): unknown {
  const property = Object.getOwnPropertyDescriptor(value, key);
  if (property === undefined) throw new BadArguments("the array has a hole", pointer);
  if (!("value" in property)) throw new BadArguments("the property is computed by a getter", pointer);
  return property.value as unknown;
}

/** Reports whether an object is one of a literal or of JSON.parse, also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return typeof prototype === "object" && Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf") &&
    !(Symbol.toStringTag in value) && !(Symbol.iterator in value);
}

function nameOf(value: object): string {
  const made: unknown = (value as { constructor?: unknown }).constructor;
  return typeof made === "function" && made.name !== "" ? made.name : "a class";
}

function quote(text: string, pointer: string): string {
  if (!text.isWellFormed()) throw new BadArguments("the text has a lone surrogate", pointer);
  return JSON.stringify(text);
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Reads a JSON text (RFC 8259). It throws BadArguments for malformed text, for repeated keys, the key `__proto__` and lone
 * surrogates, and for a number that JavaScript would change.
 */
export function decode(text: string): Json {
  return new Reader(text).document();
}

const space = /[ \t\n\r]*/y;
const numeral = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const literals = [["true", true], ["false", false], ["null", null]] as const;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    const value = this.#value("", 0);
    if (this.#peek() !== "") throw this.#malformed("data after the end");
    return value;
  }

  #value(pointer: string, depth: number): Json {
    const next = this.#peek();
    if (depth > maxDepth) throw new BadArguments(`the value is deeper than ${maxDepth} levels`);
    if (next === "{") return this.#object(pointer, depth);
    if (next === "[") return this.#array(pointer, depth);
    if (next === '"') return this.#string(pointer);
    for (const [name, value] of literals) {
      if (this.#text.startsWith(name, this.#at)) {
        this.#at += name.length;
        return value;
      }
    }
    const number = this.#match(numeral);
    if (number === undefined) throw this.#malformed("a value is expected");
    return exactNumber(number, pointer);
  }

  #object(pointer: string, depth: number): Json {
    const members: { [key: string]: Json } = {};
    this.#at++;
    if (this.#take("}")) return members;
    do {
      if (this.#peek() !== '"') throw this.#malformed("a key is expected");
      const key = this.#string(pointer);
      const at = `${pointer}/${escapePointer(key)}`;
      if (key === "__proto__") throw new BadArguments("the key __proto__ is refused", at);
      if (Object.hasOwn(members, key)) throw new BadArguments("the key is repeated", at);
      if (!this.#take(":")) throw this.#malformed("a colon is expected");
      members[key] = this.#value(at, depth + 1);
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#malformed("the end of an object is expected");
    return members;
  }

  #array(pointer: string, depth: number): Json {
    const elements: Json[] = [];
    this.#at++;
    if (this.#take("]")) return elements;
    do elements.push(this.#value(`${pointer}/${elements.length}`, depth + 1));
    while (this.#take(","));
    if (!this.#take("]")) throw this.#malformed("the end of an array is expected");
    return elements;
  }

  #string(pointer: string): string {
    const start = this.#at;
    let end = start;
    do end = this.#text.indexOf('"', end + 1);
    while (end > 0 && this.#isEscaped(end));
    if (end < 0) throw this.#malformed("the string does not end");
    this.#at = end + 1;
    let text: string;
    try {
      text = JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      throw this.#malformed("the string is malformed");
    }
    if (!text.isWellFormed()) throw new BadArguments("the text has a lone surrogate", pointer);
    return text;
  }

  /** Reports whether an odd number of backslashes precedes a quote. */
  #isEscaped(quote: number): boolean {
    let first = quote;
    while (this.#text[first - 1] === "\\") first--;
    return (quote - first) % 2 === 1;
  }

  #peek(): string {
    this.#match(space);
    return this.#text.charAt(this.#at);
  }

  #take(mark: string): boolean {
    if (this.#peek() !== mark) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #malformed(why: string): BadArguments {
    return new BadArguments(`the text is not JSON: ${why} at character ${this.#at}`);
  }
}

/** The number of a literal, if JavaScript writes it with the same decimal value. */
function exactNumber(literal: string, pointer: string): number {
  const value = Number(literal);
  if (literal.length <= 15 && /^-?[0-9]+$/.test(literal)) return value;
  const vanished = value === 0 && /^[^eE]*[1-9]/.test(literal);
  if (vanished || !Number.isFinite(value) || decimal(literal) !== decimal(String(value))) {
    throw new BadArguments(`JavaScript cannot hold the number ${literal.slice(0, 60)} exactly; read argsText`, pointer);
  }
  return value;
}

/** The unique text of a decimal: its digits without zeros at the ends, and its exponent. */
function decimal(literal: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(literal) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  if (digits === "") return "0";
  return `${sign}${digits}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - digits.length)}`;
}
