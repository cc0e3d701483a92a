import { execFileSync } from 'node:child_process'
import { chownSync, readFileSync } from 'node:fs'
import type { Folder, User } from './process.ts'

export interface Certificate {
  certFile: string
  keyFile: string
  /** PEM text. The certificate is its own authority. */
  pem: string
}

/** Creates a certificate for `localhost` and for no address. Only that user can read its key. */
export function certificateFor(user: User, folder: Folder): Certificate {
  const [certFile, keyFile] = [`${folder.path}/server.crt`, `${folder.path}/server.key`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile, '-out', certFile]
  const names = ['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', '-x509', ...key, ...names], { stdio: 'ignore' })
  for (const file of [certFile, keyFile])
    if (user.uid !== undefined && user.gid !== undefined) chownSync(file, user.uid, user.gid)
  return { certFile, keyFile, pem: readFileSync(certFile, 'utf8') }
}
