import { CryptoError } from '@skerry/crypto/errors'
import { SkerryError } from '@skerry/sdk/errors'
import { operations } from './operations.ts'
import { admitFirst, controls, isAdmitted, type Port } from './sharing.ts'

// The keyring's worker. The server sends its script with a policy that forbids all connections (see
// features/dashboard). Whatever goes wrong in here, keys can reach only the pages that may ask.

export interface Question {
  id: number
  name: keyof typeof operations | keyof typeof controls
  input: unknown
}

export type Answer = { id: number; value: unknown } | { id: number; error: { code: string; message: string } }

// A browser without shared workers starts a worker for each tab.
if ('onconnect' in globalThis)
  addEventListener('connect', (event) => serve((event as MessageEvent).ports[0] as MessagePort))
else serve(globalThis as unknown as Port)

function serve(port: Port): void {
  admitFirst(port)
  port.onmessage = async ({ data }: MessageEvent<Question>) => port.postMessage(await answer(port, data))
}

async function answer(port: Port, { id, name, input }: Question): Promise<Answer> {
  try {
    // The page's side (keyring.ts) checks by type that the input fits.
    if (name in controls) return { id, value: await controls[name as keyof typeof controls](port, input as never) }
    if (!isAdmitted(port)) throw new CryptoError('invalid_argument', 'this tab has not joined')
    return { id, value: await operations[name as keyof typeof operations](input as never) }
  } catch (error) {
    // The messages of these two errors are fixed texts. Other messages might quote the input.
    if (error instanceof CryptoError || error instanceof SkerryError)
      return { id, error: { code: error.code, message: error.message } }
    return { id, error: { code: 'internal', message: 'the keyring failed' } }
  }
}
