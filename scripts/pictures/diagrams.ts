import type { Diagram } from './diagram.ts'

const key = { width: 240, height: 56, kind: 'key' } as const
const sealed = { width: 260, height: 56, kind: 'sealed' } as const

/** The keys: who has which, and what opens what. */
const keys: Diagram = {
  title: 'Readers have private keys. The server has wrapped copies of the environment key, and ciphertext.',
  width: 900,
  height: 340,
  zones: [
    { x: 8, y: 8, width: 264, height: 324, label: 'Readers: a person, a CI token', kind: 'machine' },
    { x: 312, y: 8, width: 284, height: 324, label: 'Server: stores these, opens none', kind: 'server' },
    { x: 636, y: 8, width: 256, height: 324, label: 'On the reader’s machine', kind: 'machine' },
  ],
  boxes: [
    { ...key, id: 'you', x: 20, y: 48, title: 'Your private key', detail: 'locked with your passphrase' },
    { ...key, id: 'ci', x: 20, y: 136, title: 'The private key of CI', detail: 'part of the token' },
    { ...sealed, id: 'for-you', x: 324, y: 48, title: 'Environment key', detail: 'wrapped for you' },
    { ...sealed, id: 'for-ci', x: 324, y: 136, title: 'Environment key', detail: 'wrapped for CI' },
    {
      ...sealed,
      id: 'secret',
      x: 324,
      y: 256,
      title: 'DATABASE_URL, API_KEY, …',
      detail: 'encrypted with the environment key',
    },
    { ...key, id: 'env', x: 648, y: 92, width: 232, title: 'Environment key', detail: 'of shop/production' },
    {
      id: 'value',
      x: 648,
      y: 256,
      width: 232,
      height: 56,
      kind: 'value',
      title: 'postgres://shop:s3cret@db',
      detail: 'the value, for your program',
    },
  ],
  arrows: [
    { from: 'you', to: 'for-you', label: 'opens' },
    { from: 'ci', to: 'for-ci', label: 'opens' },
    { from: 'for-you', to: 'env' },
    { from: 'for-ci', to: 'env' },
    { from: 'env', to: 'value' },
    { from: 'secret', to: 'value' },
  ],
}

const plain = { height: 44, kind: 'plain' } as const

/** The places of secrets. */
const places: Diagram = {
  title: 'An organization has applications and groups. Both have environments.',
  width: 900,
  height: 300,
  zones: [
    { x: 8, y: 8, width: 884, height: 284, label: 'organization acme', kind: 'machine' },
    { x: 24, y: 44, width: 600, height: 232, label: 'application shop', kind: 'machine' },
    { x: 652, y: 44, width: 224, height: 232, label: 'group shared', kind: 'machine' },
  ],
  boxes: [
    { ...plain, id: 'dev', x: 44, y: 80, width: 170, title: 'development' },
    { ...plain, id: 'staging', x: 44, y: 148, width: 170, title: 'staging' },
    { ...plain, id: 'production', x: 44, y: 216, width: 170, title: 'production' },
    { ...plain, id: 'branch', x: 430, y: 148, width: 174, title: 'branch pr-42' },
    { ...plain, id: 'shared', x: 672, y: 216, width: 184, title: 'production' },
  ],
  arrows: [
    { from: 'staging', to: 'branch', label: 'gives what does not differ' },
    { from: 'shared', to: 'production', label: 'adds its secrets' },
  ],
}

const step = { y: 60, height: 96 } as const

/** The steps of `skerry run`. */
const run: Diagram = {
  title: 'skerry run asks the server, decrypts on the machine, and becomes the program.',
  width: 900,
  height: 190,
  zones: [
    { x: 8, y: 8, width: 210, height: 174, label: 'Machine of the program', kind: 'machine' },
    { x: 308, y: 8, width: 230, height: 174, label: 'Server', kind: 'server' },
    { x: 648, y: 8, width: 244, height: 174, label: 'Machine of the program', kind: 'machine' },
  ],
  boxes: [
    { ...step, id: 'run', x: 20, width: 186, kind: 'key', title: 'skerry run -- node app.js', detail: 'has the token' },
    {
      ...step,
      id: 'server',
      x: 320,
      width: 206,
      kind: 'sealed',
      title: 'Checks the token',
      detail: 'and finds the environment',
    },
    {
      ...step,
      id: 'program',
      x: 660,
      width: 220,
      kind: 'value',
      title: 'Decrypts, starts node app.js',
      detail: 'DATABASE_URL=postgres://…',
    },
  ],
  arrows: [
    { from: 'run', to: 'server', label: 'identifier' },
    { from: 'server', to: 'program', label: 'ciphertext' },
  ],
}

/** Name of the picture in docs/images -> its table. */
export const diagrams: Record<string, Diagram> = { keys, places, run }
