import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportFormats } from '../../packages/cli/src/formats/names.ts'
import { manualFolder, manualsOf } from './manuals.ts'

// The completions and man pages of a release, as the shells and the programs that format man pages read them.

let folder: string
let files: Record<string, string>
const at = (path: string) => join(folder, path)

/** Knows the names that a server has, in place of the command, and notes that it was asked. */
const command =
  '#!/bin/sh\n[ "$1 $2" = "completion app" ] && printf "shop\\nbilling\\n"\necho "$@" >> "$SKERRY_ASKED"\n'

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skerry-manuals-'))
  files = await manualsOf(new Date('2026-11-28T12:00:00Z'))
  for (const [path, text] of Object.entries({ ...files, 'bin/skerry': command })) {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  chmodSync(at('bin/skerry'), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hasProgram = (name: string) => spawnSync(name, ['--version']).error === undefined

/** Each shell completes the last of these words, and prints a candidate per line. */
const shells = {
  bash: (words: string[]) =>
    shell(
      'bash',
      ['--norc', '-c'],
      [
        `source ${at('share/bash-completion/completions/skerry')}`,
        `COMP_WORDS=(${words.map(quote).join(' ')}); COMP_CWORD=${words.length - 1}`,
        // The name of the function comes from what the script registered.
        '$(complete -p skerry | sed "s/.*-F \\([^ ]*\\) .*/\\1/"); printf "%s\\n" "${COMPREPLY[@]}"',
      ],
    ),
  zsh: (words: string[]) =>
    shell(
      'zsh',
      ['-f', '-c'],
      [
        // The file lies in a folder of $fpath, and compinit finds it by its first line.
        `fpath=(${at('share/zsh/vendor-completions')} $fpath); autoload -Uz compinit; compinit -u -D`,
        'compadd() { shift; print -rl -- "$@" }',
        `words=(${words.map(quote).join(' ')}); CURRENT=${words.length}; $_comps[skerry]`,
      ],
    ),
  fish: (words: string[]) =>
    shell(
      'fish',
      ['--no-config', '-c'],
      [
        `source ${at('share/fish/vendor_completions.d/skerry.fish')}`,
        `complete -C ${quote(words.join(' '))} | string replace -r "\\t.*" ""; true`,
      ],
    ),
}

const quote = (text: string) => `'${text}'`

function shell(name: string, options: string[], lines: string[]): string[] {
  const env = { PATH: `${at('bin')}:${process.env.PATH}`, HOME: folder, TERM: 'dumb', SKERRY_ASKED: at('asked') }
  const out = execFileSync(name, [...options, lines.join('\n')], { encoding: 'utf8', env, cwd: folder })
  return out.split('\n').filter(Boolean)
}

for (const [name, complete] of Object.entries(shells))
  describe.skipIf(!hasProgram(name))(`in ${name}`, () => {
    test('the commands and their verbs are completed, and none that is only kept for old scripts', () => {
      const commands = complete(['skerry', ''])
      expect(commands).toEqual(expect.arrayContaining(['run', 'secrets', 'log-sink']))
      expect(commands).not.toContain('export')
      expect(complete(['skerry', 'secrets', ''])).toEqual(expect.arrayContaining(['set', 'get', 'rename']))
      expect(complete(['skerry', 'lease', 'target', ''])).toEqual(expect.arrayContaining(['ls', 'create']))
    })

    test('the options of a command are completed, but not those of another one', () => {
      const options = complete(['skerry', 'secrets', 'set', '--'])
      expect(options).toEqual(expect.arrayContaining(['--env', '--file', '--json']))
      expect(options).not.toContain('--ttl')
    })

    test('an option that takes few values offers exactly these', () => {
      const formats = complete(['skerry', 'secrets', 'export', '--format', ''])
      expect(formats.sort()).toEqual([...exportFormats].sort())
    })

    test('names come from the command, which gets what was typed; nothing else asks it', () => {
      rmSync(at('asked'), { force: true })
      complete(['skerry', 'secrets', ''])
      expect(spawnSync('cat', [at('asked')]).status).toBe(1)
      expect(complete(['skerry', 'secrets', 'ls', '--app', '']).sort()).toEqual(['billing', 'shop'])
      expect(execFileSync('cat', [at('asked')], { encoding: 'utf8' })).toMatch(
        /^completion app -- .*secrets ls --app\n/,
      )
    })
  })

const pages = () => Object.keys(files).filter((path) => path.startsWith(manualFolder))

test('each command has a man page, which the page of skerry names', () => {
  const named = [...(files[`${manualFolder}/skerry.1`] ?? '').matchAll(/^\.BR (\S+) \(1\)/gm)].map(([, name]) => name)
  const found = pages().map((path) => basename(path, '.1').replaceAll('-', '\\-'))
  expect(named.length).toBeGreaterThan(40)
  expect(found.filter((name) => name !== 'skerry').sort()).toEqual([...named].sort())
})

test('a man page has the options of each verb and the words of its help', () => {
  const page = files[`${manualFolder}/skerry-secrets.1`] ?? ''
  expect(page).toContain('.TH SKERRY-SECRETS 1 2026-11-28 "Skerry ')
  expect(page).toContain('.SS skerry secrets set <NAME> [options]')
  expect(page).toContain('.TP\n\\fB\\-\\-reveal\\fR\nshow values')
})

test.skipIf(spawnSync('mandoc', ['-T', 'lint', '/dev/null']).error !== undefined)('mandoc finds no mistake', () => {
  const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...pages().map(at)], { encoding: 'utf8' })
  expect(stdout).toBe('')
})

test.skipIf(!hasProgram('man'))('man prints each page without a warning', () => {
  const env = { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '80', MAN_KEEP_STDERR: '1' }
  for (const page of pages().map(at)) {
    const { stdout, stderr, status } = spawnSync('man', ['--warnings', '-l', page], { encoding: 'utf8', env })
    expect([status, stderr], page).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^ +${basename(page, '.1')} +- `, 'm'))
  }
})
