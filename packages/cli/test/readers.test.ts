import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { parse } from 'dotenv'
import { describe, expect, it } from 'vitest'
import { readDotenv } from '../src/dotenv-file.ts'
import type { Values } from '../src/formats/names.ts'
import { formatValues } from '../src/formats.ts'
import { random } from './random.ts'

// Reads files of `secrets export` with the programs that people use for such files.

const pieces = [
  'a',
  'B',
  '0',
  ' ',
  '\t',
  "'",
  '"',
  '`',
  '#',
  '$',
  '${',
  '${A}',
  '\\',
  '\n',
  '=',
  ':',
  'é',
  '💥',
  '\\n',
  '!',
  '&',
  ';',
  '%',
]

/** Makes sets of difficult values. */
function sets(seed: number, count: number): Values[] {
  const next = random(seed)
  const text = () =>
    Array.from({ length: Math.floor(next() * 7) }, () => pieces[Math.floor(next() * pieces.length)]).join('')
  return Array.from({ length: count }, (_, set) => new Map([1, 2, 3].map((i) => [`S${set}_${i}`, text()])))
}

/** The `.env` text of all values about which no remark names this reader, and these values. */
function writtenFor(reader: string): { text: string; values: Record<string, string> } {
  const all = { text: '', values: {} as Record<string, string> }
  for (const values of sets(20_261_122, 1500)) {
    for (const [name, value] of values) {
      const { text, remarks } = attempt(new Map([[name, value]]))
      if (text === '' || remarks.some((one) => one.includes(reader))) continue
      all.text += text
      all.values[name] = value
    }
  }
  return all
}

function attempt(values: Values) {
  try {
    return formatValues(values, 'dotenv')
  } catch {
    return { text: '', remarks: [] }
  }
}

const pythonReads = spawnSync('/usr/bin/python3', ['-c', 'import dotenv']).status === 0
if (!pythonReads) {
  const missing = 'python-dotenv does not read the exports; install the Debian package python3-dotenv'
  if (process.env.SKERRY_REQUIRE_SERVICES === '1') throw new Error(missing)
  process.stderr.write(`SKIPPED: ${missing}\n`)
}

/**
 * Reads files with systemd's code for EnvironmentFile=. It also expands variables in the values, which EnvironmentFile=
 * does not.
 */
const systemdReader = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator'
const systemdReads = existsSync(systemdReader)
if (!systemdReads) {
  const missing = 'systemd does not read the exports; install the Debian package systemd'
  if (process.env.SKERRY_REQUIRE_SERVICES === '1') throw new Error(missing)
  process.stderr.write(`SKIPPED: ${missing}\n`)
}

const python = `
import dotenv, json, sys
sys.stdout.write(json.dumps(dotenv.dotenv_values(stream=open(0, encoding='utf-8'))))
`

describe('an exported file is read back', () => {
  it('by the dotenv package and by secrets import, with every value', () => {
    let written = 0
    for (const values of sets(20_261_122, 1500)) {
      const { text } = attempt(values)
      if (text === '') continue
      written++
      expect(parse(text)).toEqual(Object.fromEntries(values))
      expect(readDotenv(text)).toMatchObject({ values, problems: [], warnings: [] })
    }
    expect(written).toBeGreaterThan(1200)
  })

  it('by Node', () => {
    const { text, values } = writtenFor('Node')
    expect(Object.keys(values).length).toBeGreaterThan(3000)
    expect(otherwise(values, { ...parseEnv(text) })).toEqual([])
  })

  it('by a POSIX shell', () => {
    const { text, values } = writtenFor('a POSIX shell')
    expect(Object.keys(values).length).toBeGreaterThan(2500)
    expect(otherwise(values, readByShell(text, Object.keys(values)))).toEqual([])
  })

  it.skipIf(!pythonReads)('by python-dotenv', () => {
    const { text, values } = writtenFor('python-dotenv')
    expect(Object.keys(values).length).toBeGreaterThan(2500)
    const read = execFileSync('/usr/bin/python3', ['-c', python], { input: text, encoding: 'utf8' })
    expect(otherwise(values, JSON.parse(read))).toEqual([])
  })

  it.skipIf(!systemdReads)('by systemd, in its own format', () => {
    // This reader does not print a variable with an empty value.
    const values = new Map(sets(20_261_122, 400).flatMap((set) => [...set].filter(([, value]) => value !== '')))
    const { text, remarks } = formatValues(values, 'systemd')
    expect(remarks).toEqual([])
    expect(otherwise(Object.fromEntries(values), readBySystemd(text, [...values.keys()]))).toEqual([])
  })

  it('completely by every reader, for ordinary values', () => {
    const ordinary = new Map([
      ['URL', 'postgres://shop:p%40ss@db:5432/shop?sslmode=require'],
      ['WORDS', 'two words, # and $signs "quoted"'],
      ['KEY', '-----BEGIN KEY-----\nabc+/=\n-----END KEY-----\n'],
      ['APOSTROPHE', "it's"],
      ['EMPTY', ''],
      ['BACKSLASH', 'C:\\dir\\file'],
    ])
    const { text, remarks } = formatValues(ordinary, 'dotenv')
    expect(remarks).toEqual([])
    const all = Object.fromEntries(ordinary)
    expect(parse(text)).toEqual(all)
    expect({ ...parseEnv(text) }).toEqual(all)
    expect(readByShell(text, [...ordinary.keys()])).toEqual(all)
  })

  it('with a remark about each value that some program reads differently', () => {
    const { remarks } = formatValues(
      new Map([
        ['BOTH', `it's $5 "net"`],
        ['FINE', 'x'],
      ]),
      'dotenv',
    )
    expect(remarks).toEqual(['python-dotenv, Docker Compose, a POSIX shell would read other values for BOTH'])
  })
})

/** Lists each value that differs from the written one, with its line, and each value that was not written. */
function otherwise(written: Record<string, string>, read: Record<string, string | undefined>) {
  const names = Object.keys({ ...written, ...read }).filter((name) => written[name] !== read[name])
  return names.map((name) => ({
    line: name in written ? attempt(new Map([[name, written[name]!]])).text : '',
    read: read[name],
  }))
}

function readByShell(text: string, names: string[]): Record<string, string> {
  const print = names.map((name) => `printf '%s\\0' "$${name}"\n`).join('')
  const out = execFileSync('sh', ['-s'], { input: `${text}${print}`, encoding: 'utf8', env: {} })
  return Object.fromEntries(
    out
      .split('\0')
      .map((value, i) => [names[i], value])
      .slice(0, -1),
  )
}

function readBySystemd(text: string, names: string[]): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-systemd-'))
  try {
    mkdirSync(join(folder, 'environment.d'))
    // `$$` prevents the expansion of `$`.
    writeFileSync(join(folder, 'environment.d', 'written.conf'), text.replaceAll('\\$', '\\$\\$'))
    const env = { HOME: folder, XDG_CONFIG_HOME: folder }
    const out = execFileSync(systemdReader, { env, encoding: 'utf8' })
    // It prints `NAME=word` or `NAME="..."`, with escapes as in C.
    const printed = [...out.matchAll(/^(\w+)=(?:"(.*)"|(.*))$/gm)].map(([, name, quoted, plain]) => {
      const value = quoted?.replace(/\\(.)/g, (_, letter) => ({ n: '\n', t: '\t' })[letter as string] ?? letter)
      return [name!, value ?? plain ?? ''] as const
    })
    return Object.fromEntries(printed.filter(([name]) => names.includes(name)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
