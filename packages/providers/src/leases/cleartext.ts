import { ProviderError } from '../provider-error.ts'
import { tlsSettings } from './tls.ts'

type Connection = Parameters<typeof tlsSettings>[0] & { allowCleartextPassword?: boolean }

/** Whether a target may receive a password that it can read: its certificate is checked, or its settings allow it. */
export function mayReadPassword(connection: Connection): boolean {
  const tls = tlsSettings(connection)
  return connection.allowCleartextPassword === true || (tls !== false && tls.rejectUnauthorized)
}

/** The reason is not `denied`, because the password was not tried. */
export const cleartextRefusal = (what: string) =>
  new ProviderError(
    'unsupported',
    `the server asks for ${what}, which others on the network could read. Nothing was sent. ` +
      'Use tls verify-full, or set connection.allowCleartextPassword',
  )
