import { randomBytes } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.ts'
import { readIfThere, writePrivate } from '../files.ts'
import { configFolder } from '../folders.js'
import type { AccessKey } from './sigv4.ts'

/**
 * The file of the access key, in the format of ~/.aws/credentials, for AWS_SHARED_CREDENTIALS_FILE. The key is never
 * printed.
 */
export const accessKeyPath = () => join(configFolder(), 'kms-gateway-credentials')

/** Returns the gateway's own access key, which is made at the first start. It works only with this gateway. */
export function accessKey(): AccessKey {
  const path = accessKeyPath()
  const text = readIfThere(path) ?? make(path)
  const [, accessKeyId] = /^aws_access_key_id = (SKERRY[A-Z2-7]{14})$/m.exec(text) ?? []
  const [, secretAccessKey] = /^aws_secret_access_key = (\S{40,})$/m.exec(text) ?? []
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Failure(
      'failure',
      `${path} contains no access key of the gateway`,
      'delete the file, and the gateway creates a new one',
    )
  chmodSync(path, 0o600)
  return { accessKeyId, secretAccessKey }
}

function make(path: string): string {
  const letters = [...randomBytes(14)].map((byte) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[byte & 31])
  const text = [
    '[default]',
    `aws_access_key_id = SKERRY${letters.join('')}`,
    `aws_secret_access_key = ${randomBytes(32).toString('base64url')}`,
    '',
  ].join('\n')
  writePrivate(path, text)
  return text
}
