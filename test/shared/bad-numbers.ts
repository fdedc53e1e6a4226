/** What callers pass where a positive number belongs, each under the name that a test shows. */
export const BAD_NUMBERS: readonly (readonly [name: string, value: number])[] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['1e309', Number('1e309')],
  ['-1', -1],
  ["'5'", '5' as unknown as number],
  ['null', null as unknown as number],
  ['5n', 5n as unknown as number],
  ['{}', {} as unknown as number],
];
