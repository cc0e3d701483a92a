import type { Command, Option } from 'commander'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProgram, everyCommand } from '../src/program.ts'
import { type Machine, newMachine } from './machine.ts'

let machine: Machine
beforeAll(async () => {
  // Nothing listens there: a wrong command line is refused before anything is sent.
  machine = await newMachine('http://127.0.0.1:1')
})
afterAll(() => machine.remove())

const measured = /<(?:number|duration)>/
const wrong = 'no-value'

/** Options that are only read with something that this walk does not give. `option-values.test.ts` has most of them. */
const dependent = new Set([
  ...[
    'run --mount-max-reads',
    'run --max-age',
    'run --interval',
    'recovery setup --threshold',
    'compose set --position',
    'ssh --ttl',
  ],
  ...['token create --expires', 'rotation create --length', 'lease target create --provider'],
])

const leavesOf = (command: Command, above: string[]): { path: string[]; command: Command }[] =>
  command.commands.flatMap((one) => {
    const path = [...above, one.name()]
    return one.commands.length > 0 ? leavesOf(one, path) : [{ path, command: one }]
  })

const isMeasured = ({ flags, argChoices }: Option) => measured.test(flags) || argChoices !== undefined

function argumentsOf({ registeredArguments }: Command): string[] {
  return registeredArguments
    .filter(({ required }) => required)
    .map((argument) => argument.argChoices?.[0] ?? (/NAME/.test(argument.name()) ? 'NAME' : 'name'))
}

it('every option with a number, a duration or a choice refuses another value with 2, by its own name', async () => {
  const program = await buildProgram([everyCommand])
  const found: string[] = []
  for (const { path, command } of leavesOf(program, []))
    for (const option of command.options.filter(isMeasured)) {
      const name = `${path.join(' ')} ${option.long}`
      if (dependent.has(name)) continue
      const others = command.options.filter((one) => one.mandatory && one !== option)
      const needed = others.flatMap(({ long, argChoices }) => [long!, argChoices?.[0] ?? 'name'])
      const line = [...path, ...argumentsOf(command), ...needed, `${option.long}=${wrong}`]
      const { code, stderr } = await machine.skerry(line)
      if (code !== 2 || !stderr.includes(option.long!)) found.push(`${name}: ${code} ${stderr.trim()}`)
    }
  expect(found).toEqual([])
})
