import { createSkerry } from '@skerry/sdk'
import { memoryCache } from '@skerry/sdk/cache'
import { processMemory } from '@skerry/sdk/internal/directory/memory'
import { createKnownState } from '@skerry/sdk/known-state'
import { newMachine } from '../../cli/test/machine.ts'
import { newPersonMachine, passphrase } from '../../cli/test/people.ts'
import type { Act, Outcome, Situation } from './attack.ts'
import { aliceEmail, honestValue, type Stage } from './stage.ts'

/** A client in one situation. `prepare` runs while the server is honest, and `act` while it lies. */
interface Client {
  act(): Promise<Outcome>
  close(): Promise<void>
}

type Open = (stage: Stage, situation: Situation) => Promise<Client>

/** Prints the values that the attacks change, and `-` for one that is not set. */
const printing = 'printf %s,%s,%s "${A:--}" "${B:--}" "${NEW:--}"'
const honest = `${honestValue},common,-`

/** Runs a program on a fresh machine that has only a token. Each command is a process of its own. */
const commandLine: Open = async ({ liar, token }, { memory, pin }) => {
  const machine = await newMachine(liar.url, { cold: true })
  machine.env.SKERRY_TOKEN = pin ? token.pinned : token.plain
  const run = () => machine.skerry(['run', '--', 'sh', '-c', printing])
  if (memory) await run()
  return {
    act: async () => {
      const { code, stdout, stderr } = await run()
      return outcomeOf({ failed: code !== 0, values: stdout, told: stderr })
    },
    close: machine.remove,
  }
}

/** A program with the SDK, which asks again while it runs. */
const sdk: Open = async ({ liar, token }, { memory, pin }) => {
  const warnings: string[] = []
  const warn = (message: string) => void warnings.push(message)
  // A program keeps both memories for as long as it runs.
  const directories = processMemory()
  const knownState = createKnownState({
    store: memoryCache(),
    baseUrl: liar.url,
    principalId: token.id,
    onChanged: (changes) => warn(`${changes.length} layers or names are new`),
  })
  const read = async () => {
    const { values } = await createSkerry({
      baseUrl: liar.url,
      token: pin ? token.pinned : token.plain,
      knownState,
      ...(pin ? { directory: { memory: directories, warn } } : {}),
      warn,
    }).resolve()
    return [values.A, values.B, values.NEW].map((value) => value ?? '-').join(',')
  }
  if (memory) await read()
  return {
    act: async () => {
      warnings.length = 0
      try {
        return outcomeOf({ failed: false, values: await read(), told: warnings.join('\n') })
      } catch (error) {
        return outcomeOf({ failed: true, values: '', told: (error as Error).message })
      }
    },
    close: async () => {},
  }
}

/** The commands of the acts in which a person wraps keys, on an environment that no other attack uses. */
const commands = {
  rekey: 'skerry env rekey production --yes',
  grant: 'skerry grant bob@example.com --app shop --env production',
} as const

/** Alice's new machine, with the project file as it is in the repository, or without the pin in it. */
const person =
  (act: keyof typeof commands): Open =>
  async ({ honest: server, liar, projectFile }, { memory, pin }) => {
    const machine = await newPersonMachine(server, aliceEmail, liar.url)
    await machine.write('../passphrase', `${passphrase}\n`)
    machine.env.SKERRY_PASSPHRASE_FILE = `${machine.home}/passphrase`
    const { pin: written, ...withoutPin } = JSON.parse(projectFile)
    await machine.write('skerry.json', JSON.stringify(pin ? { ...withoutPin, pin: written } : withoutPin))
    if (memory) await machine.ok('skerry env readers production')
    return {
      act: async () => {
        const { code, stderr } = await machine.shell(commands[act])
        const line = firstLine(stderr)
        return { seen: code === 0 ? 'accepted' : 'refused', line }
      },
      close: machine.remove,
    }
  }

/** The clients that perform each act. */
export const clients: Readonly<Record<Act, Readonly<Record<string, Open>>>> = {
  run: { 'command line': commandLine, SDK: sdk },
  rekey: { 'command line': person('rekey') },
  grant: { 'command line': person('grant') },
}

interface Seen {
  failed: boolean
  values: string
  told: string
}

function outcomeOf({ failed, values, told }: Seen): Outcome {
  const line = firstLine(told)
  if (failed) return { seen: 'refused', line }
  if (values === honest) return { seen: 'unharmed', line }
  return { seen: line === '' ? 'accepted' : 'warned', line }
}

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? ''
