import { Command } from 'commander'
import { beforeAll, expect, it } from 'vitest'
import { commands } from '../src/commands/table.ts'
import { suggestedCommands, suggestionFor } from '../src/suggestions.ts'
import { formatDuration } from '../src/units.ts'

const program = new Command('skerry').enablePositionalOptions()
beforeAll(async () => {
  for (const { name, load } of commands) (await load()).register(program.command(name))
})

it('every command that is suggested for a word of other tools exists', () => {
  for (const path of suggestedCommands) {
    const found = path.split(' ').reduce<Command | undefined>((above, name) => {
      return above?.commands.find((one) => one.name() === name)
    }, program)
    expect(found?.name(), path).toBe(path.split(' ').at(-1))
  }
})

it.each([
  ['get', [], 'use `skerry secrets get`'],
  ['set', [], 'use `skerry secrets set`'],
  ['import', [], 'use `skerry secrets import`'],
  ['configure', [], 'use `skerry setup`'],
  ['link', [], 'use `skerry setup`'],
  ['delete', [], 'use `skerry secrets rm`'],
  ['inject', [], 'use `skerry run` or `skerry secrets substitute`'],
  ['signin', [], 'use `skerry login`'],
  ['signout', [], 'use `skerry logout`'],
  ['who', [], 'use `skerry whoami`'],
  ['remove', ['secrets'], 'use `skerry secrets rm`'],
  ['remove', ['token'], 'use `skerry token rm`'],
  ['add', ['secrets'], 'use `skerry secrets set`'],
  ['add', ['token'], 'use `skerry token create`'],
  ['ls', ['lease', 'target'], 'use `skerry lease target ls`'],
  ['constructor', [], undefined],
  ['toString', ['secrets'], undefined],
])('the suggestion for the word %s after the commands %j follows its meaning', (word, path, suggestion) => {
  const above = path.reduce((one, name) => one.commands.find((below) => below.name() === name)!, program)
  expect(
    suggestionFor(
      word,
      path,
      above.commands.map((one) => one.name()),
    ),
  ).toBe(suggestion)
})

it('the suggestion for something that Skerry does not do is the reason', () => {
  expect(suggestionFor('scan', [], [])).toContain('does not search files')
})

it.each([
  [45, '45 seconds'],
  [60, '1 minute'],
  [90, '90 seconds'],
  [119, '2 minutes'],
  [300, '5 minutes'],
  [3600, '1 hour'],
  [5400, '90 minutes'],
  [2_592_000, '30 days'],
])('%i seconds are shown as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})
