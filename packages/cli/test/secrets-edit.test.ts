import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Values } from '../src/formats/names.ts'
import { findEditor } from '../src/run/editor.ts'
import { readEditText, writeEditText } from '../src/secrets/edit-text.ts'
import { type Machine, signedUp } from './machine.ts'
import { random } from './random.ts'
import { openServer, type Server } from './server.ts'

// The editor of these tests is a shell script, which skerry starts on a real terminal.

let server: Server
let machine: Machine

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Edit Org')
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

async function ok(script: string): Promise<string> {
  const { code, stdout, stderr } = await machine.shell(script)
  expect([code, stderr], script).toEqual([0, expect.not.stringContaining('skerry: ')])
  return stdout
}

const stored = async (env: string) => JSON.parse(await ok(`skerry secrets export --stored --format json --env ${env}`))

/** Runs `secrets edit` with a script as the editor. Its first argument is the file. */
async function edit(script: string, args: string, answers: [string, string][] = []) {
  await machine.write('editor.sh', `echo "$1" > path.txt\n${script}\n`)
  const { code, stdout } = await machine.terminal(`env EDITOR='sh editor.sh' skerry secrets edit ${args}`, answers)
  return { code, shown: stdout, path: (await machine.read('path.txt')).trim() }
}

let env = ''
let count = 0
async function newEnvironment(): Promise<void> {
  env = `env-${++count}`
  await ok(`skerry env create ${env}; printf 'A=one\\nB=two\\nC=three\\n' | skerry secrets import - --env ${env}`)
}

describe('secrets edit', () => {
  beforeEach(newEnvironment)

  it('writes what was added, changed and deleted, after showing the names and never the values', async () => {
    const script = `sed -i -e 's/^A=.*/A=changed-value/' -e '/^B=/d' "$1"; echo D=added-value >> "$1"`
    const { code, shown, path } = await edit(script, `--env ${env}`, [[`Write this to shop/${env}?`, 'y']])
    expect(code).toBe(0)
    for (const line of ['1 new, 1 changed, 1 deleted', '  + D', '  ~ A', '  - B', 'wrote D, A; deleted B'])
      expect(shown).toContain(line)
    expect(shown).not.toMatch(/changed-value|added-value|three/)
    expect(await stored(env)).toEqual({ A: 'changed-value', C: 'three', D: 'added-value' })
    expect(existsSync(path)).toBe(false)
  })

  it('gives the editor a file in memory that only its owner can read, and not the credential of skerry', async () => {
    const script = `stat -c %a "$1" "$(dirname "$1")"; stat -f -c %T "$1"; echo "[$SKERRY_TOKEN]"; cat "$1"`
    const { profiles, current } = JSON.parse(await ok('cat $HOME/.config/skerry/credentials.json'))
    machine.env.SKERRY_TOKEN = profiles[current].token
    const own = await edit(script, `A --env ${env}`).finally(() => delete machine.env.SKERRY_TOKEN)
    expect(own.shown).toMatch(/600\s+700\s+tmpfs\s+\[\]\s/)
    expect(own.shown).toContain('A=one')
    expect(own.shown).not.toContain('B=two')
    expect(own.shown).toContain(`you changed nothing, so shop/${env} stays as it is`)
    expect(own.code).toBe(0)
  })

  it('writes nothing if the answer is no, and with --dry-run', async () => {
    const script = `echo A=other >> "$1"; sed -i '/^A=one/d' "$1"`
    const refused = await edit(script, `--env ${env}`, [['Write this', 'n']])
    expect([refused.code, refused.shown]).toEqual([1, expect.stringContaining('nothing was changed')])
    const tried = await edit(script, `--dry-run --env ${env}`)
    expect([tried.code, tried.shown]).toEqual([0, expect.stringContaining('dry run: nothing was written')])
    expect(await stored(env)).toMatchObject({ A: 'one' })
  })

  it('names the line of a mistake, and opens the same text again', async () => {
    const script = `if test -e again; then sed -i '/^nonsense/d' "$1"; else touch again; echo nonsense-value >> "$1"; echo NEW=1 >> "$1"; fi`
    const { code, shown } = await edit(script, `--env ${env}`, [
      ['Edit again?', 'y'],
      ['Write this', 'y'],
    ])
    expect([code, shown]).toEqual([0, expect.stringMatching(/line 7: the line is neither NAME=value nor a comment/)])
    expect(shown).not.toContain('nonsense-value')
    expect(await stored(env)).toMatchObject({ NEW: '1' })
  })

  it.each([
    ['a name that is set twice', 'echo A=2 >> "$1"', 'A is also on line'],
    ['a reference to itself', `echo 'LOOP=x\${LOOP}' >> "$1"`, 'LOOP would refer to itself'],
    ['a NUL byte', `printf 'NUL=a\\0b\\n' >> "$1"`, 'NUL byte'],
    ['bytes that are no text', `printf 'X=\\377\\n' >> "$1"`, 'not UTF-8'],
  ])('does not accept %s', async (_, script, message) => {
    const { code, shown } = await edit(script, `--env ${env}`, [['Edit again?', 'n']])
    expect([code, shown]).toEqual([1, expect.stringContaining(message)])
    expect(await stored(env)).toEqual({ A: 'one', B: 'two', C: 'three' })
  })

  it('refuses to write over a value that somebody else has changed meanwhile', async () => {
    const script = `printf theirs | skerry secrets set A --env ${env}; sed -i -e 's/^A=.*/A=mine/' -e 's/^B=.*/B=mine/' "$1"`
    const { code, shown } = await edit(script, `--env ${env}`, [
      ['Write this', 'y'],
      ['Open your text once more', 'n'],
    ])
    expect([code, shown]).toEqual([5, expect.stringContaining(`A in shop/${env} changed while you edited`)])
    expect(await stored(env)).toEqual({ A: 'theirs', B: 'two', C: 'three' })
  })

  it('proposes one change in a protected environment, and nothing with --fail-if-queued', async () => {
    await ok(`skerry env protect ${env} --yes`)
    const script = `sed -i -e 's/^A=.*/A=changed/' -e '/^B=/d' "$1"; touch edited`
    const refused = await edit(script, `--env ${env} --fail-if-queued`)
    expect([refused.code, refused.shown]).toEqual([5, expect.stringContaining(`shop/${env} is protected`)])
    expect(existsSync(`${machine.project}/edited`)).toBe(false)
    const { code, shown } = await edit(script, `--env ${env} --note because`, [['Propose this as one change', 'y']])
    const [, id = ''] = /proposed as (\w+);/.exec(shown) ?? []
    expect([code, id]).toEqual([0, expect.stringMatching(/^\w+_\w{22}$/)])
    const look = await ok(`skerry changes show ${id}`)
    for (const text of ['2 changes', 'note: because', 'delete B']) expect(look).toContain(text)
    expect(await stored(env)).toMatchObject({ A: 'one', B: 'two' })
  })

  it('leaves out a value that a .env file cannot hold, and does not delete it', async () => {
    await ok(`printf 'a\\\\n\\r\\nb' | skerry secrets set MIXED --env ${env}`)
    const { code, shown } = await edit('cat "$1"', `--env ${env}`)
    expect([code, shown]).toEqual([0, expect.stringContaining('MIXED is not shown')])
    expect(shown).toContain('you changed nothing')
  })

  it('leaves every value as it is, byte for byte, if the editor changes nothing', async () => {
    const values = {
      KEY: '-----BEGIN-----\nab\n\ncd\n-----END-----\n',
      REF: 'x${A}',
      ESCAPED: 'x$${A} $A',
      SPACES: ' \t x ',
    }
    await machine.write('difficult.json', JSON.stringify(values))
    await ok(`skerry secrets import difficult.json --env ${env}`)
    const { shown } = await edit('sed -i "s/$/\\r/" "$1"; sed -i "s/\\r$//" "$1"', `--env ${env}`)
    expect(shown).toContain('you changed nothing')
    expect(await stored(env)).toMatchObject(values)
  })

  it('writes nothing if the editor fails', async () => {
    const { code, shown } = await edit('echo X=1 >> "$1"; exit 3', `--env ${env}`)
    expect([code, shown]).toEqual([1, expect.stringContaining('the editor ended with code 3; nothing was changed')])
    const removed = await edit('rm "$1"', `--env ${env}`)
    expect([removed.code, removed.shown]).toEqual([1, expect.stringContaining('the editor has removed the file')])
  })

  it.each([
    ['without a terminal', `skerry secrets edit --env development`, 2, 'secrets edit needs a terminal'],
    ['with a name that is no name', `skerry secrets edit 'A=1'`, 2, 'the name of the secret is not valid'],
  ])('is refused %s', async (_, command, code, message) => {
    expect(await machine.shell(command)).toMatchObject({ code, stderr: expect.stringContaining(message) })
  })

  it('is refused for a secret that the environment does not store', async () => {
    const { code, stdout } = await machine.terminal(`env EDITOR=true skerry secrets edit NONE --env ${env}`)
    expect([code, stdout]).toEqual([4, expect.stringContaining('does not store NONE')])
  })
})

describe('the file of secrets edit is gone', () => {
  let path = ''
  beforeAll(newEnvironment)
  afterEach(() => expect.poll(() => existsSync(path)).toBe(false))

  it('when skerry is killed', async () => {
    const ended = await edit('test -s "$1" && kill -KILL $PPID', `--env ${env}`)
    path = ended.path
    expect(ended.code).not.toBe(0)
    expect(path).toMatch(/\.env$/)
  })

  it('when skerry is told to end, and so is the editor', async () => {
    const ended = await edit('kill -TERM $PPID; exec sleep 600', `--env ${env}`)
    path = ended.path
    expect([ended.code, ended.shown]).toEqual([130, expect.stringContaining('nothing was changed')])
  })

  it('when Ctrl-C ends the editor', async () => {
    const ended = await edit('echo ready; exec sleep 600', `--env ${env}`, [['ready', '\x03']])
    path = ended.path
    expect([ended.code, ended.shown]).toEqual([130, expect.stringContaining('nothing was changed')])
  })

  it('and Ctrl-C does not end skerry while the editor uses it as a key', async () => {
    const script = `trap 'interrupted=1' INT; echo ready; until test "$interrupted"; do sleep 0.05; done; echo N=1 >> "$1"`
    const ended = await edit(script, `--env ${env}`, [
      ['ready', '\x03'],
      ['Write this', 'y'],
    ])
    path = ended.path
    expect(ended.code).toBe(0)
    expect(await stored(env)).toMatchObject({ N: '1' })
  })
})

describe('the text for the editor', () => {
  const pieces = [
    'a',
    ' ',
    '\t',
    "'",
    '"',
    '`',
    '#',
    '$',
    '${A}',
    '$${A}',
    '\\',
    '\n',
    '\r\n',
    '\r',
    '=',
    'é',
    '💥',
    '\\n',
    '\u2028',
  ]

  it('reads back as exactly the same values, for 1,000 sets of difficult values', () => {
    const next = random(20_261_127)
    const pick = () => pieces[Math.floor(next() * pieces.length)]!
    let shown = 0
    for (let round = 0; round < 1000; round++) {
      const texts = Array.from({ length: 4 }, () => Array.from({ length: Math.floor(next() * 7) }, pick).join(''))
      const values: Values = new Map(texts.map((text, at) => [`NAME_${at}`, text]))
      const { text, leftOut } = writeEditText(values, 'shop/it"s')
      for (const name of leftOut) values.delete(name)
      expect(readEditText(Buffer.from(text))).toEqual({ values, mistakes: [] })
      shown += values.size
    }
    expect(shown).toBeGreaterThan(3400)
  })
})

describe('the editor', () => {
  const path = '/nonexistent:/usr/bin:/bin'
  const argvOf = (text: string) => findEditor({ VISUAL: text, PATH: path }).argv

  it('is the one of VISUAL, then of EDITOR, with their arguments', () => {
    expect(findEditor({ VISUAL: 'sh -e', EDITOR: 'cat', PATH: path })).toEqual({
      file: expect.stringMatching(/\/sh$/),
      argv: ['sh', '-e'],
    })
    expect(findEditor({ VISUAL: ' ', EDITOR: 'cat', PATH: path }).argv).toEqual(['cat'])
    expect(argvOf(`sh -c 'a b' "c \\"d" e\\ f x"y"z ''`)).toEqual(['sh', '-c', 'a b', 'c "d', 'e f', 'xyz', ''])
    expect(argvOf('sh $HOME ~ *')).toEqual(['sh', '$HOME', '~', '*'])
  })

  it.each([
    ['sh "open', 'a quote in VISUAL is opened and not closed'],
    ['none-such -w', 'none-such: command not found, which VISUAL names'],
    ['code', 'code ends before you have edited'],
    ['/opt/bin/subl -n', 'subl ends before you have edited'],
  ])('%s is refused', (text, message) => {
    expect(() => argvOf(text)).toThrow(message)
  })

  it('is refused if there is none', () => {
    expect(() => findEditor({ PATH: '/nonexistent' })).toThrow('no editor was found')
  })
})
