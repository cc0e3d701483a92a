import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'
import { folderFor } from '../services/process.ts'
import { startSshd } from '../services/sshd.ts'
import type { LeaseScene } from './lease-conformance.ts'
import { askFor } from './mint.ts'

export const run = promisify(execFile)
export const user = userInfo().username

export const caKinds = [
  ['ed25519', [], 'ED25519'],
  ['ecdsa', ['-b', '256'], 'ECDSA'],
  ['ecdsa', ['-b', '384'], 'ECDSA'],
  ['ecdsa', ['-b', '521'], 'ECDSA'],
  ['rsa', ['-b', '3072'], 'RSA'],
] as const

export interface Key {
  file: string
  privateKey: string
  publicKey: string
}

export interface SshScene extends LeaseScene<'ssh'> {
  folder: string
  /** One authority of each kind. The host trusts all of them. */
  authorities: Key[]
  newKey(type: string, ...options: string[]): Promise<Key>
  /** Puts a certificate where `ssh` finds it, and returns what `ssh-keygen` reads in it. */
  install(key: Key, certificate: string): Promise<string>
  /** Signs in to the host with the key and its certificate, and returns the output of the command. */
  ssh(key: Key, ...command: string[]): Promise<string>
}

/** An authority, and a host that accepts its certificates. */
export async function sshScene(): Promise<SshScene> {
  const folder = folderFor({}, 'sshd')
  let keys = 0
  const newKey = async (type: string, ...options: string[]) => {
    const file = `${folder.path}/key-${++keys}`
    await run('ssh-keygen', ['-q', '-t', type, ...options, '-N', '', '-C', '', '-f', file])
    return { file, privateKey: readFileSync(file, 'utf8'), publicKey: readFileSync(`${file}.pub`, 'utf8').trim() }
  }
  const authorities: Key[] = []
  for (const [type, options] of caKinds) authorities.push(await newKey(type, ...options))
  const trusted = authorities.map(({ publicKey }) => publicKey)
  const daemon = await startSshd(folder, trusted)
  const ca = authorities[0]!
  return {
    folder: folder.path,
    authorities,
    newKey,
    async install({ file }, certificate) {
      writeFileSync(`${file}-cert.pub`, `${certificate}\n`)
      return (await run('ssh-keygen', ['-L', '-f', `${file}-cert.pub`])).stdout
    },
    async ssh({ file }, ...command) {
      const options = ['-F', 'none', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no']
      const files = ['-o', `UserKnownHostsFile=${folder.path}/known_hosts`, '-o', 'IdentityAgent=none', '-i', file]
      const more = ['-o', 'IdentitiesOnly=yes', '-o', 'KexAlgorithms=curve25519-sha256', '-p', `${daemon.port}`]
      return (await run('ssh', [...options, ...files, ...more, `${user}@127.0.0.1`, ...command])).stdout
    },
    server: /^SSH certificate authority \(ssh-ed25519\)$/,
    target: () => ({
      config: { provider: 'ssh', executor: 'in_broker', caPublicKey: ca.publicKey },
      credential: ca.privateKey,
    }),
    async stop() {
      await daemon.stop()
      folder.remove()
    },
  }
}

/** A request to sign in with this key. */
export function askWith(publicKey: string, principals = [user], seconds = 600) {
  const { lease, ref } = askFor(seconds)
  return { lease: { ...lease, publicKey, principals }, ref }
}
