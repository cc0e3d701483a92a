import { execFileSync } from 'node:child_process'
import { parse } from 'dotenv'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { readDotenv } from '../src/dotenv-file.ts'
import { Failure } from '../src/failure.ts'
import type { ExportFormat, Values } from '../src/formats/names.ts'
import { formatOfFile, readFormat } from '../src/formats/read.ts'
import { readYaml } from '../src/formats/yaml.ts'
import { formatValues, readJsonValues } from '../src/formats.ts'
import { isSecretName } from '../src/names.ts'
import { random } from './random.ts'

const yamlOf = (text: string, from = 'x', { flatten = false } = {}) =>
  readYaml(text, from, {
    flatten,
    nameOf: (name) => (isSecretName(name.replaceAll('-', '_')) ? name.replaceAll('-', '_') : undefined),
  })

const pieces = ['a', 'B', '0', ' ', '  ', '\t', "'", '"', '`', '#', '$', '${', '\\', '\n', '\r\n', '\r', '=', ':']
const more = ['é', '💥', '\\n', '\\r', "\\'", '\\"', 'export ', '\u2028', '\u00a0', '\ufeff', '{', '%', '!', ';', '&']

function randomValues(next: () => number): Values {
  const pick = () => [...pieces, ...more][Math.floor(next() * (pieces.length + more.length))]!
  const text = () => Array.from({ length: Math.floor(next() * 8) }, pick).join('')
  return new Map(Array.from({ length: 1 + Math.floor(next() * 5) }, (_, i) => [`NAME_${i}`, text()]))
}

const textOf = (values: Values, format: ExportFormat) => formatValues(values, format, { isStored: true }).text

describe('exported values read back exactly, or are refused by name,', () => {
  it('as dotenv, for 5,000 sets of difficult values', () => {
    const next = random(20_261_004)
    let refused = 0
    for (let round = 0; round < 5000; round++) {
      const values = randomValues(next)
      let text: string
      try {
        text = textOf(values, 'dotenv')
      } catch (error) {
        refused++
        expect((error as Error).message).toMatch(/^the dotenv format cannot contain the value of NAME_/)
        continue
      }
      expect(parse(text)).toEqual(Object.fromEntries(values))
      expect(readDotenv(text)).toMatchObject({ values, stored: values, problems: [], warnings: [] })
    }
    // The grammar cannot express a carriage return beside a literal \\n. No ordinary value may be refused.
    expect(refused).toBeLessThan(750)
  })

  it('as dotenv, for every value without carriage return, a line break beside \\n, or all three quotes', () => {
    const next = random(7)
    const ordinary = (value: string) => !/\r|\\/.test(value) && !["'", '"', '`'].every((quote) => value.includes(quote))
    for (let round = 0; round < 3000; round++) {
      const values = new Map([...randomValues(next)].filter(([, value]) => ordinary(value)))
      expect(parse(textOf(values, 'dotenv'))).toEqual(Object.fromEntries(values))
    }
  })

  it('as JSON', () => {
    const next = random(3)
    for (let round = 0; round < 500; round++) {
      const values = randomValues(next)
      expect(readJsonValues(textOf(values, 'json'), 'x')).toEqual(values)
    }
  })

  it('as shell, read by a shell', () => {
    const next = random(5)
    const values: Values = new Map()
    for (let round = 0; round < 300; round++) {
      for (const value of randomValues(next).values()) values.set(`N${values.size}`, value)
    }
    const print = [...values.keys()].map((name) => `printf '%s\\0' "$${name}"`).join('\n')
    const script = `${textOf(values, 'shell')}${print}\n`
    const out = execFileSync('sh', ['-s'], { input: script, encoding: 'utf8' })
    expect(out.split('\0').slice(0, -1)).toEqual([...values.values()])
  })
})

describe('an exported file is recognised by its content on import:', () => {
  it.each(['shell', 'yaml', 'docker', 'k8s', 'systemd', 'github-actions'] as const)('%s reads back', async (format) => {
    const next = random(20_261_126)
    let compared = 0
    for (let round = 0; round < 1500; round++) {
      const values = randomValues(next)
      let text: string
      try {
        text = textOf(values, format)
      } catch {
        continue
      }
      expect(formatOfFile('stdin', text)).toBe(format)
      const read = format === 'yaml' ? await yamlOf(text, 'stdin') : readFormat(format, text, 'stdin')
      expect(read).toEqual(values)
      compared++
    }
    expect(compared).toBeGreaterThan(format === 'docker' ? 300 : 1499)
  })

  it.each([
    [
      'a Kubernetes Deployment',
      'apiVersion: apps/v1\nkind: Deployment\n',
      'not a Kubernetes Secret that can be imported',
    ],
    ['a shell script', 'values.sh:export A="$(id)"\n', 'values.sh, line 1: the line is not in the shell format'],
    ['a Docker file with a damaged line', '# skerry: docker env file\nA\n', 'line 2: the line is not in the Docker'],
  ])('%s is refused with one message that names the place', (_, given, message) => {
    const [, path = 'file', text = given] = /^(values\.\w+):([\s\S]*)$/.exec(given) ?? []
    const format = formatOfFile(path, text) as Exclude<ExportFormat, 'dotenv' | 'json' | 'yaml'>
    expect(() => readFormat(format, text, path)).toThrow(message)
  })

  it('a .env file is recognised, also with export and with quotes that no shell would close', () => {
    for (const text of ['A=1\n', 'export A="b c"\n', "export A='it\\'s'\n", 'A={"b":1}\n', 'A: b\n'])
      expect(formatOfFile('.env', text)).toBe('dotenv')
  })
})

describe('a parser of the format reads exported values exactly', () => {
  const sets = () => {
    const next = random(20_261_122)
    return Array.from({ length: 1500 }, () => randomValues(next))
  }

  it.each(['1.1', '1.2'] as const)('as YAML %s', (version) => {
    for (const values of sets()) {
      const read = parseYaml(textOf(values, 'yaml'), { version })
      expect(read).toEqual(Object.fromEntries(values))
    }
    expect(parseYaml(textOf(new Map([['NO', 'off']]), 'yaml'), { version })).toEqual({ NO: 'off' })
  })

  it('as a Kubernetes Secret, whose data are base64', () => {
    for (const values of sets()) {
      const { kind, data } = parseYaml(textOf(values, 'k8s')) as { kind: string; data: Record<string, string> }
      const read = Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString('utf8')])
      expect([kind, Object.fromEntries(read)]).toEqual(['Secret', Object.fromEntries(values)])
    }
  })

  it('as a Docker env file, whose lines are split at the first =', () => {
    for (const values of sets()) {
      const held = new Map([...values].filter(([, value]) => !/\n|\r$/.test(value)))
      const read = textOf(held, 'docker')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
      const pairs = read.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
      expect(Object.fromEntries(pairs)).toEqual(Object.fromEntries(held))
    }
  })

  it('as heredocs of GitHub Actions, in which no value contains the line that ends it', () => {
    for (const values of sets()) {
      const read = new Map<string, string>()
      const lines = textOf(values, 'github-actions').split('\n')
      while (lines.length > 1) {
        const [name, end] = lines.shift()!.split('<<') as [string, string]
        read.set(name, lines.splice(0, lines.indexOf(end)).join('\n'))
        lines.shift()
      }
      expect(read).toEqual(values)
    }
  })
})

describe('reading a .env file', () => {
  it('gives the same values as the dotenv package, for any text', () => {
    const next = random(11)
    const pick = () => [...pieces, ...more, 'A=', 'B=', '\nC=', '\nexport D=', '\n# ', 'E: '][Math.floor(next() * 39)]!
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: Math.floor(next() * 20) }, pick).join('')
      const { values } = readDotenv(text)
      expect(Object.fromEntries(values), JSON.stringify(text)).toEqual(parse(text.replace(/^\ufeff/, '')))
    }
  })

  it.each([
    ['not an entry', 'A=1\nnonsense\n', [2]],
    ['a name with a hyphen', 'A=1\n\n\nmy-name=2\n', [4]],
    ['a name that begins with a digit', '1A=2\n', [1]],
    ['an open quote', 'A=1\nB="open\nC=3\n', [2]],
    ['several problems', 'x\nA=1\ny\n', [1, 3]],
    ['a problem after a value of several lines', 'A="1\n2\n3"\nx\n', [4]],
    ['a problem in a file with Windows line ends', 'A=1\r\n\r\nx\r\n', [3]],
  ])('names the line of %s', (_, text, lines) => {
    expect(readDotenv(text).problems.map(({ line }) => line)).toEqual(lines)
  })

  it('warns about a duplicate name, with both lines', () => {
    expect(readDotenv('A=1\n# A=2\nA=3\n').warnings).toEqual([
      { line: 3, message: 'A is also on line 1; the value on this line is used' },
    ])
  })

  it('warns about a # that cuts a value off', () => {
    expect(readDotenv('A=abc#def\n').warnings).toHaveLength(1)
    expect(readDotenv('A=abc # a comment\nB="a#b"\nC=# a comment\n').warnings).toEqual([])
  })

  it('never repeats a value in a message', () => {
    const { problems, warnings } = readDotenv('hunter2\nA="hunter2\nB=hunter2#hunter2\nB=hunter2\nx-y=hunter2\n')
    expect(JSON.stringify([problems, warnings])).not.toContain('hunter2')
  })
})

describe('reading YAML', () => {
  it.each([
    ['numbers', 'A: 007\nB: 1e3\nC: 0x1F\nD: 1.0\nE: 1_000\nF: .inf\n', '007 1e3 0x1F 1.0 1_000 .inf'],
    ['booleans and dates', 'A: yes\nB: True\nC: 2001-12-14\nD: 12:30\n', 'yes True 2001-12-14 12:30'],
    ['YAML 1.1', '%YAML 1.1\n---\nNO: off\nOFF: 0777\n', 'off 0777'],
    ['aliases', 'A: &a 010\nB: *a\n', '010 010'],
    ['quotes and comments', "A: \"\\x41\" # c\nB: 'it''s'\n", "A it's"],
    ['Windows line ends', '\ufeffA: 1\r\nB: 2\r\n', '1 2'],
    ['nothing', '# only a comment\n', ''],
    ['an empty map', '{}', ''],
  ])('keeps the text of %s', async (_, text, expected) => {
    expect([...(await yamlOf(text)).values()].join(' ')).toBe(expected)
  })

  it('reads block texts of several lines', async () => {
    const read = await yamlOf('KEY: |\n  -----BEGIN-----\n  abc\nFOLDED: >-\n  one\n  two\n')
    expect([...read]).toEqual([
      ['KEY', '-----BEGIN-----\nabc\n'],
      ['FOLDED', 'one two'],
    ])
  })

  it('joins the names of nested maps with --flatten', async () => {
    const read = await yamlOf('db:\n  host: x\n  pool: {max-size: 05}\n', 'x', { flatten: true })
    expect([...read]).toEqual([
      ['db_host', 'x'],
      ['db_pool_max_size', '05'],
    ])
  })

  const bomb = `z: &z {}\n${Array.from({ length: 30 }, (_, i) => `a${i}: &a${i} {x: *${i ? `a${i - 1}` : 'z'}, y: *${i ? `a${i - 1}` : 'z'}}`).join('\n')}`

  it.each([
    ['a map', 'A: 1\ndb:\n  host: hunter2\n', 'line 2: db is a map', false],
    ['a list', 'A: [hunter2]\n', 'line 1: A is a list', false],
    ['a list in a map', 'a:\n  b: [hunter2]\n', 'line 2: a.b is a list', true],
    ['an empty value', 'A: hunter2\nB:\n', 'line 2: B has no value', false],
    ['null', 'A: ~\n', 'line 1: A has no value', false],
    ['a tag', 'A: !!str hunter2\n', 'line 1: tags (!) are not read', false],
    ['a tag of a program', 'A: !vault hunter2\n', 'line 1: tags (!) are not read', false],
    ['a name set twice', 'A: hunter2\n"A": hunter2\n', 'line 2: the name was set before', false],
    ['a name that two paths make', 'a: {b: 1}\na_b: hunter2\n', 'line 2: a_b sets a_b, which was set before', true],
    ['a second document', 'A: hunter2\n---\nB: hunter2\n', 'line 2: a second document begins', false],
    ['a merge key', 'A: &a {B: hunter2}\n<<: *a\n', 'line 2: merge keys', true],
    ['an unknown alias', 'A: *hunter2\n', 'line 1: the alias names no anchor', false],
    ['an alias in its own map', 'a: &a {b: *a}', 'line 1: a.b contains itself', true],
    ['aliases of aliases', bomb, 'the file stands for more than 10000 values', true],
    ['a name with a blank', 'hunter2 hunter2: 1\n', 'line 1: the name is not an environment variable name', false],
    ['an open quote', 'A: "hunter2\n', 'a character is missing', false],
    ['a colon in a text', 'A: hunter2: x\n', 'line 1: a map begins in the line of its name', false],
    ['a tab', '\tA: hunter2\n', 'line 1: a tab indents the line', false],
    ['a stray bracket', 'A: 1\n}hunter2', 'line 2: this is not YAML', false],
    ['a text', 'hunter2', 'line 1: this is not a map', false],
  ])('refuses %s with its line, and never repeats a value', async (_, text, message, flatten) => {
    const refusal = await yamlOf(text, 'x', { flatten }).catch((error) => error)
    expect(refusal).toBeInstanceOf(Failure)
    expect(refusal).toMatchObject({ kind: 'usage', message: expect.stringContaining(message) })
    expect(`${refusal.message} ${refusal.next}`).not.toContain('hunter2')
  })
})

describe('reading JSON', () => {
  it.each(['[]', '1', 'null', '{"A":1}', '{"A":null}', '{"a-b":"x"}', '{', '{"A":{"B":"x"}}'])('refuses %s', (text) => {
    expect(() => readJsonValues(text, 'values.json')).toThrow(/^values\.json/)
  })
})
