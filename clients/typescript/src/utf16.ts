/** Reports whether a UTF-16 unit is the first half of a pair. */
export function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
