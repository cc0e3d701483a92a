import { expandEach } from '@skerry/crypto/references'
import { parse } from 'dotenv'
import { describe, expect, it } from 'vitest'
import { readDotenv } from '../src/dotenv-file.ts'

// Tests the dialect of `.env` files that `secrets import` reads. A line that other dialects read differently is
// reported.

/** The values that a program gets after the file was imported. */
function given(text: string): Record<string, string | undefined> {
  const stored = Object.fromEntries(readDotenv(text).stored)
  return expandEach(stored).values
}
const differencesOf = (text: string) => readDotenv(text).differences

describe('a value in single quotes', () => {
  it.each(['${HOST}', '$${HOST}', 'a ${HOST} and ${OTHER}', '$HOST $(id) ${X:-y} \\$'])('%s is literal', (value) => {
    const text = `HOST=db\nVALUE='${value}'\n`
    expect(given(text).VALUE).toBe(value)
    expect(parse(text).VALUE).toBe(value)
    expect(differencesOf(text)).toEqual([])
  })

  it.each([
    ['without quotes', ''],
    ['in double quotes', '"'],
    ['in backticks', '`'],
  ])('differs from a value %s, where ${NAME} is a reference', (_, quote) => {
    expect(given(`HOST=db\nVALUE=${quote}at \${HOST}${quote}\n`).VALUE).toBe('at db')
  })
})

describe('differences between readers of .env files:', () => {
  it.each([
    ['a variable', '$HOME/bin', '$NAME is not replaced: write a reference as ${NAME}'],
    ['a default', '${PORT:-80}', '${NAME:-text} is not replaced: a reference cannot have a default'],
    ['a command', '$(id -u)', '$(...) is not replaced: Skerry runs no command'],
    ['an escaped dollar', 'five \\$', '\\$ keeps its backslash; to write a plain $, put the value in single quotes'],
    [
      'an escaped quote',
      '"a \\"b\\" c"',
      '\\" and \\\\ keep their backslashes; only \\n and \\r are replaced, with line breaks',
    ],
    [
      'an escaped backslash',
      '"C:\\\\dir"',
      '\\" and \\\\ keep their backslashes; only \\n and \\r are replaced, with line breaks',
    ],
  ])('readDotenv reports %s with its line and keeps it as it is written: %s', (_, value, message) => {
    const text = `# first\nVALUE=${value}\n`
    expect(differencesOf(text)).toEqual([{ line: 2, message: `in VALUE, ${message}` }])
    expect(given(text).VALUE).toBe(value.replace(/^"(.*)"$/, '$1'))
  })

  it('readDotenv reports nothing that all readers read alike', () => {
    expect(differencesOf('A=plain\nB="two words"\nC=${A}\nD="line\\nline"\nE=costs 5$\n')).toEqual([])
  })
})

describe('a dotted or hyphenated name', () => {
  const text = 'my.name=1\nmy-other=2\n'

  it('is refused unless the caller asks to rename it', () => {
    const message = 'the name is not valid: use letters, digits and _, not starting with a digit'
    expect(readDotenv(text).problems).toEqual([
      { line: 1, message },
      { line: 2, message },
    ])
    const { values, problems } = readDotenv(text, { rename: true })
    expect([[...values], problems]).toEqual([
      [
        ['my_name', '1'],
        ['my_other', '2'],
      ],
      [],
    ])
  })

  it('that is renamed to an existing name is reported as a duplicate', () => {
    expect(readDotenv('my_name=1\nmy-name=2\n', { rename: true }).warnings).toEqual([
      { line: 2, message: 'my_name is also on line 1; the value on this line is used' },
    ])
  })
})
