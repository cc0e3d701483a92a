import { z } from 'zod'
import { usage } from '../failure.ts'
import { exportFormats } from '../formats/names.ts'
import { anyPlace, branchPlace, fields, options } from './fields.ts'
import { type Hands, handedOver, told, tool } from './tool.ts'

interface Read {
  name: string
  value: string
  version: number | null
  environmentId: string
}

const setSecret = tool({
  name: 'set_secret',
  description:
    'Write a secret: a value, or a random one that nobody has to see. A protected environment queues the change.',
  input: {
    name: fields.secret,
    value: z.string().optional(),
    random: z.int().min(1).max(4096).optional().describe('length of a random value, instead of a value'),
    note: z.string().optional().describe('why, for those who approve; the server can read it'),
    ...anyPlace,
  },
  does: 'write',
  run: async ({ name, value, random, note, ...place }, { json }) => {
    if ((value === undefined) === (random === undefined)) throw usage('give either value or random, not both')
    const words = ['secrets', 'set', name, ...options({ ...place, note, random, empty: value === '' })]
    return told(await json(words, { input: value ?? '' }))
  },
})

const getSecret = tool({
  name: 'get_secret',
  description: 'Whether a secret is there, its version and where it comes from; its value only with reveal.',
  input: { name: fields.secret, reveal: fields.reveal, ...anyPlace },
  does: 'read',
  run: async ({ name, reveal, ...place }, { json, checkReveal }) => {
    checkReveal(reveal)
    const { data, notes } = await json(['secrets', 'get', name, ...options(place)])
    const { value, version, environmentId } = data as Read
    return told({ data: { name, version, environmentId, ...(reveal ? { value } : { masked: true }) }, notes })
  },
})

const listSecrets = tool({
  name: 'list_secrets',
  description:
    'Names and versions of the secrets that a program gets in an environment, and where each comes from; never values.',
  input: anyPlace,
  does: 'read',
  run: async (place, { json }) => told(await json(['secrets', 'list', ...options(place)])),
})

const listVersions = tool({
  name: 'list_secret_versions',
  description: 'Who wrote which version of a secret and when, newest first, never values.',
  input: { name: fields.secret, ...anyPlace },
  does: 'read',
  run: async ({ name, ...place }, { json }) => told(await json(['secrets', 'history', name, ...options(place)])),
})

const outputMaxBytes = 65_536

const runCommand = tool({
  name: 'run_command',
  description:
    'Run a program with the secrets of an environment in its variables. Values are masked in what it prints. No shell is started.',
  input: { command: z.string().min(1), args: z.array(z.string()).default([]), ...branchPlace },
  does: 'destroy',
  run: async ({ command, args, ...place }, { run }) => {
    const words = ['run', '--mask', ...options(place), '--', command, ...args]
    const { code, stdout, stderr } = await run(words, { maxBytes: outputMaxBytes })
    return { exitCode: code, stdout, stderr }
  },
})

const exportEnv = tool({
  name: 'export_env',
  description:
    'The secrets of an environment as a program gets them: into a file of the project, or shown with reveal, where the person has allowed it with --allow-reveal; else their names.',
  input: {
    format: z.enum(exportFormats).default('dotenv'),
    file: fields.file,
    reveal: fields.reveal,
    ...anyPlace,
  },
  does: 'read',
  run: async ({ format, file, reveal, ...place }, hands) => {
    // The assistant can read the file, so writing it reveals the values.
    hands.checkReveal(reveal || file !== undefined)
    if (file !== undefined && reveal) throw usage('file and reveal cannot be used together')
    if (reveal) return { format, text: await exported(hands, place, format) }
    if (file === undefined) return { names: Object.keys(JSON.parse(await exported(hands, place, 'json'))) }
    return handedOver({ file }, hands, async () => ({ secret: await exported(hands, place, format), rest: { format } }))
  },
})

const exported = (hands: Hands, place: Record<string, string | undefined>, format: string): Promise<string> =>
  hands.text(['secrets', 'export', ...options({ ...place, format })])

export const secretTools = [setSecret, getSecret, listSecrets, listVersions, runCommand, exportEnv]
