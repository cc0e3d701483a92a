import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, expect } from 'vitest'
import { type Liar, openLiar } from './hostile/liar.ts'
import { type Machine, newMachine } from './machine.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer } from './people.ts'

export const value = 'postgres://shop:s3cret-of-db@db/shop'
export const other = 'a second line\nof "text" \u00fc'

/** A running `skerry serve`. */
export interface Serving {
  machine: Machine
  child: ReturnType<Machine['start']>['child']
  ended: ReturnType<Machine['start']>['ended']
  told: () => string
}

/** A real server that lies when a test says so, and an environment whose secrets `skerry serve` gives to programs. */
export interface ServeScene {
  server: PeopleServer
  liar: Liar
  /** A token with a pin, so that a lie is noticed by a machine that nobody has used before. */
  token: string
  setSecret: (name: string, text: string) => Promise<void>
  /** A machine with the token in a file. */
  freshMachine: (url?: string) => Promise<Machine>
  /** A machine without a token. */
  emptyMachine: (url: string) => Promise<Machine>
  /** Starts `skerry serve`, and waits until it says that it listens. */
  serve: (machine: Machine, args: string[], env?: Record<string, string>) => Promise<Serving>
}

/** Opens the scene, stops what each test started, and closes the scene after the suite. */
export async function openServeScene(): Promise<ServeScene> {
  const server = await openPeopleServer()
  const liar = await openLiar(server.url)
  const ada = await newKeyHolder(server, 'serve@example.com', liar.url)
  const machines: Machine[] = []
  let running: Serving[] = []
  afterEach(async () => {
    liar.repent()
    await Promise.all(running.map(stop))
    running = []
  })
  afterAll(async () => {
    await ada.ok('skerry keys lock')
    await Promise.all([ada, ...machines].map((machine) => machine.remove()))
    await liar.close()
    await server.close()
  })

  const setSecret = async (name: string, text: string) => {
    const { code, stderr } = await ada.skerry(['secrets', 'set', name], { input: text })
    expect(code, stderr).toBe(0)
  }
  await ada.ok('skerry keys unlock && skerry org create "Serve" && skerry init --yes --env development')
  await setSecret('DATABASE_URL', value)
  await setSecret('OTHER', other)
  await ada.ok('skerry trust init --yes')
  const token = (await ada.ok('skerry token create serve --env development')).trim()

  const emptyMachine = async (url: string) => {
    const machine = await newMachine(url)
    machines.push(machine)
    return machine
  }
  return {
    server,
    liar,
    token,
    setSecret,
    emptyMachine,
    async freshMachine(url = liar.url) {
      const machine = await emptyMachine(url)
      await machine.write('../token', `${token}\n`)
      machine.env.SKERRY_TOKEN_FILE = join(machine.home, 'token')
      return machine
    },
    async serve(machine, args, env = {}) {
      const { child, ended, tells } = machine.start(['serve', ...args], { env })
      let text = ''
      child.stderr!.on('data', (chunk) => {
        text += chunk
      })
      const serving = { machine, child, ended, told: () => text }
      running.push(serving)
      await tells(args.includes('--port') ? 'for callers with the token in' : 'shop/development')
      return serving
    },
  }
}

export async function stop({ child, ended }: Serving) {
  child.kill('SIGTERM')
  return ended
}

export const portOf = ({ told }: Serving) => Number(/127\.0\.0\.1:(\d+)/.exec(told())![1])
export const callerToken = ({ told }: Serving) => readFileSync(/the token in (\S+)/.exec(told())![1]!, 'utf8').trim()

export interface Asking {
  method?: string
  headers?: Record<string, string>
  body?: string
}

interface Heard {
  status: number
  headers: Record<string, unknown>
  text: string
}

export function ask(at: { port: number } | { socketPath: string }, path: string, asking: Asking = {}): Promise<Heard> {
  const { method = 'GET', headers = {}, body } = asking
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', ...at, path, method, headers, agent: false }, async (answer) => {
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      resolve({ status: answer.statusCode!, headers: answer.headers, text })
    })
    sent.on('error', reject).end(body)
  })
}
