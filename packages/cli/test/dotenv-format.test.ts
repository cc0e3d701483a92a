import { parseEnv } from 'node:util'
import { formatDotenv } from '@skerry/sdk/internal/dotenv-format'
import { parse } from 'dotenv'
import { describe, expect, it } from 'vitest'

// The dashboard writes `.env` files in a browser, where neither Node's parser nor the dotenv package exists. The formatter
// therefore has their rules, and is compared here with both.

const pieces = [
  'a',
  '0',
  ' ',
  '\t',
  "'",
  '"',
  '`',
  '#',
  '$',
  '${A}',
  '\\',
  '\\n',
  '\\r',
  '\n',
  '\r',
  '=',
  'é',
  '💥',
  '-',
]

/** Every value of up to three pieces. */
const values = ['', ...pieces, ...pairs(pieces), ...pairs(pieces).flatMap((two) => pieces.map((one) => `${two}${one}`))]

function pairs(texts: string[]): string[] {
  return texts.flatMap((one) => texts.map((other) => `${one}${other}`))
}

const written = values.map((value) => ({ value, ...formatDotenv(new Map([['NAME', value]]), false) }))
const possible = written.filter(({ impossible }) => impossible.length === 0)

describe('a value in a `.env` file', () => {
  it('is read back by the dotenv package, or is refused', () => {
    expect(possible.length).toBeGreaterThan(values.length * 0.95)
    expect(possible.filter(({ text, value }) => parse(text).NAME !== value)).toEqual([])
  })

  it('is read back by Node, unless a remark says otherwise', () => {
    const wrong = possible.filter(({ text, value, remarks }) => {
      const isNamed = remarks.some((remark) => remark.includes('Node'))
      return isNamed === (parseEnv(text).NAME === value)
    })
    expect(wrong.map(({ text, remarks }) => ({ text, remarks }))).toEqual([])
  })

  it('cannot have a name that the dotenv package drops', () => {
    expect(formatDotenv(new Map([['__proto__', 'a']]), false).impossible).toEqual(['__proto__'])
  })
})
