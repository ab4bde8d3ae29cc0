import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { BadArguments, decode, encode } from "../src/index.js";

const circular: Record<string, unknown> = { a: {} };
(circular["a"] as Record<string, unknown>)["b"] = circular;
class Point {
  x = 1;
}
let deep: unknown = 1;
for (let i = 0; i < 600; i++) deep = [deep];

for (const [name, value, pointer] of [
  ["a circular object", circular, "/a/b"],
  ["NaN", { n: [NaN] }, "/n/0"],
  ["Infinity", { n: Infinity }, "/n"],
  ["a BigInt", { n: 1n }, "/n"],
  ["bytes", { b: new Uint8Array(2) }, "/b"],
  ["a Buffer, which has toJSON", { b: Buffer.from("x") }, "/b"],
  ["an instance of a class", { p: new Point() }, "/p"],
  ["a Date, which has toJSON", { d: new Date(0) }, "/d"],
  ["a Map", { m: new Map([["a", 1]]) }, "/m"],
  ["a function", { f: () => 1 }, "/f"],
  ["toJSON", { toJSON: () => 1 }, "/toJSON"],
  ["a symbol", { s: Symbol("x") }, "/s"],
  ["a symbol as a key", { [Symbol("x")]: 1 }, ""],
  ["a getter", { get x() { return 1; } }, "/x"],
  ["a hole", { a: [1, , 3] }, "/a/1"],
  ["undefined in an array", { a: [undefined] }, "/a/0"],
  ["undefined", undefined, ""],
  ["__proto__", JSON.parse('{"a/b":{"__proto__":1}}'), "/a~1b/__proto__"],
  ["a lone surrogate", { s: "\ud800" }, "/s"],
  ["a lone surrogate in a key", { "\udc00": 1 }, "/\udc00"],
  ["depth", deep, undefined],
  ["an object with an inherited prototype", Object.create({ x: 1 }), ""],
] as const) {
  test(`encode refuses ${name}`, () => {
    assert.throws(() => encode(value), (error: unknown) => error instanceof BadArguments && (pointer === undefined || error.pointer === pointer));
  });
}

test("encode writes the value", () => {
  const shared = { z: 1 };
  assert.equal(encode({ b: [1, -0, 0.1, 1e21, true, null], a: "é\u2028\"", u: undefined, shared, again: shared }), '{"b":[1,-0,0.1,1e+21,true,null],"a":"é\u2028\\"","shared":{"z":1},"again":{"z":1}}');
  assert.equal(encode(Object.assign(Object.create(null), { x: 1 })), '{"x":1}');
  assert.equal(encode(runInNewContext("({a:[{}]})")), '{"a":[{}]}', "an object of another realm");
});

for (const text of [
  "", "{", "[1,]", '{"a":1,}', "01", "+1", ".5", "1.", "1e", "-", "NaN", "tru", '"\u0001"', '"\\x"', '"a', '"\\', "{} {}", "'a'", "{a:1}", '{"a" 1}', "[1 2]", "\ufeff{}",
  '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"__proto__":1}', '{"\\u005f_proto__":1}', '"\\ud800"', '{"\\udc00":1}',
  "9007199254740993", "12345678901234567890", "1e400", "-1e400", "1e-400", "0.1000000000000000055511151231257827", "3.141592653589793238", "123456789.123456789123", "1180591620717411303424",
  `1e${"9".repeat(100_000)}`, `1e-${"9".repeat(100_000)}`, "[".repeat(600) + "]".repeat(600),
]) {
  test(`decode refuses ${JSON.stringify(text.slice(0, 40))}`, () => {
    assert.throws(() => decode(text), BadArguments);
  });
}

for (const text of ["0", "-0", "1.0", "1e2", "100e-2", "0.1", "1E+21", "5e-324", "1.7976931348623157e308", "9007199254740992", "0e999999999999", "0.30000000000000004", "1234567.1250"]) {
  test(`decode holds ${text}`, () => {
    assert.ok(Object.is(decode(` [${text}] `) instanceof Array && (decode(`[${text}]`) as number[])[0], JSON.parse(text)));
  });
}

test("decode reads what JSON.parse reads, and encode writes it again", () => {
  let seed = 1;
  const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  const value = (depth: number): unknown => {
    switch (random(depth > 3 ? 5 : 7)) {
      case 0: return null;
      case 1: return random(2) === 0;
      case 2: return (random(1e9) - 5e8) / 10 ** random(12);
      case 3: return random(1e9) * 10 ** random(20);
      case 4: return Array.from({ length: random(8) }, () => String.fromCodePoint([34, 92, 10, 97, 0xe9, 0x2028, 0x1f600, 127][random(8)] ?? 0)).join("");
      case 5: return Array.from({ length: random(4) }, () => value(depth + 1));
      default: return Object.fromEntries(Array.from({ length: random(4) }, (_, i) => [`k${i}\\"`, value(depth + 1)]));
    }
  };
  for (let i = 0; i < 3000; i++) {
    const drawn = value(0);
    for (const text of [JSON.stringify(drawn), JSON.stringify(drawn, null, 2)]) assert.deepEqual(decode(text), JSON.parse(text));
    assert.deepEqual(JSON.parse(encode(drawn)), drawn);
  }
});

test("decode is linear in backslashes and strings", () => {
  const long = "\\\\".repeat(1_000_000);
  assert.equal((decode(`"${long}"`) as string).length, 1_000_000);
  assert.throws(() => decode(`"${long}\\"`), BadArguments);
});
