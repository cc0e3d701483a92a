import { createSkerry } from '@skerry/sdk'
import { newMachine } from '../../cli/test/machine.ts'
import type { Outcome, Situation } from './attack.ts'
import { honestValue, type Stage } from './stage.ts'

/** A client in one situation. `prepare` runs while the server is honest, and `act` while it lies. */
export interface Client {
  act(): Promise<Outcome>
  close(): Promise<void>
}

type Open = (stage: Stage, situation: Situation) => Promise<Client>

/** Prints the values that the attacks change, and `-` for one that is not set. */
const printing = 'printf %s,%s,%s "${A:--}" "${B:--}" "${NEW:--}"'
const honest = `${honestValue},common,-`

/** Runs a program on a fresh machine that has only a token. */
const commandLine: Open = async ({ liar, token }, { memory, pin }) => {
  const machine = await newMachine(liar.url)
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

/** A program with the SDK, which keeps its memory in files. */
const sdk: Open = async ({ liar, token }, { memory, pin }) => {
  const machine = await newMachine(liar.url)
  const warnings: string[] = []
  const read = async () => {
    const { values } = await createSkerry({
      baseUrl: liar.url,
      token: pin ? token.pinned : token.plain,
      ...memoryIn(machine.home, liar.url, token.id),
      warn: (message) => void warnings.push(message),
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
    close: machine.remove,
  }
}

export const clients: Readonly<Record<string, Open>> = { 'command line': commandLine, SDK: sdk }

interface Seen {
  failed: boolean
  values: string
  told: string
}

function outcomeOf({ failed, values, told }: Seen): Outcome {
  const line = told.split('\n').find((text) => text.trim() !== '') ?? ''
  if (failed) return { seen: 'refused', line }
  if (values === honest) return { seen: 'unharmed', line }
  return { seen: line === '' ? 'accepted' : 'warned', line }
}
