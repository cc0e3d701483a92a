import { kmsSpecs } from '@skerry/contract/kms/specs'
import { z } from 'zod'
import { privateFolder } from '../leases/private-folder.ts'
import { fields, options } from './fields.ts'
import { handedOver, type Tool, told, tool } from './tool.ts'

const { key, context } = fields
const specs = Object.keys(kmsSpecs) as [keyof typeof kmsSpecs, ...(keyof typeof kmsSpecs)[]]

/**
 * The longest input that these tools encrypt. Longer input would become a binary file, which only the command line
 * supports.
 */
const text = z.string().max(65_536)

const createKey = tool({
  name: 'create_kms_key',
  description: 'Make a managed key, which you hold.',
  input: { name: key, spec: z.enum(specs).default('aes-256-gcm') },
  does: 'write',
  run: async ({ name, spec }, { json }) => told(await json(['kms', 'create', name, ...options({ spec })])),
})

const listKeys = tool({
  name: 'list_kms_keys',
  description: 'The managed keys that you may see.',
  input: {},
  does: 'read',
  run: async (_, { json }) => told(await json(['kms', 'list'])),
})

const encrypt = tool({
  name: 'kms_encrypt',
  description: 'Encrypt a text with a managed key.',
  input: { key, plaintext: text, context },
  does: 'read',
  run: async ({ key, plaintext, context }, { json }) =>
    told(await json(['kms', 'encrypt', key, ...options({ context })], { input: plaintext })),
})

const decrypt = tool({
  name: 'kms_decrypt',
  description: 'Decrypt a ciphertext: into a file, or into the result with reveal.',
  input: { key, ciphertext: z.string(), context, file: fields.file, reveal: fields.reveal },
  does: 'read',
  run: async ({ key, ciphertext, context, ...where }, hands) =>
    handedOver(where, hands, async () => {
      const secret = await hands.text(['kms', 'decrypt', key, ...options({ context })], { input: ciphertext })
      return { secret, rest: {} }
    }),
})

const dataKey = tool({
  name: 'kms_data_key',
  description:
    'Make a key for other programs to encrypt with, and wrap it. The key itself goes into a file, as base64, or into the result with reveal.',
  input: { key, bytes: z.int().min(1).max(1024).default(32), file: fields.file, reveal: fields.reveal },
  does: 'read',
  run: async ({ key, bytes, ...where }, hands) =>
    handedOver(where, hands, async () => {
      const { data } = await hands.json(['kms', 'data-key', key, ...options({ bytes })])
      const { plaintext, ...rest } = data as { plaintext: string; wrapped: string; keyId: string }
      return { secret: plaintext, rest }
    }),
})

const sign = tool({
  name: 'kms_sign',
  description: 'Sign a text with a managed key.',
  input: { key, message: text },
  does: 'read',
  run: async ({ key, message }, { json }) => told(await json(['kms', 'sign', key], { input: message })),
})

const verify = tool({
  name: 'kms_verify',
  description: 'Verify the signature of a text, by the key that it must be of or else the one that it names.',
  input: { key: key.optional(), message: text, signature: z.string() },
  does: 'read',
  run: async ({ key, message, signature }, { json }) => {
    const folder = await privateFolder(new Map([['signature', signature]]))
    try {
      return told(await json(['kms', 'verify', folder.paths.signature!, ...options({ key })], { input: message }))
    } finally {
      folder.remove()
    }
  },
})

export const kmsTools: Tool[] = [createKey, listKeys, encrypt, decrypt, dataKey, sign, verify]
