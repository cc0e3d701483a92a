import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { freePort } from '../../../server/test/services/free-port.ts'
import { type Daemon, type Folder, findBinary, missing, startDaemon } from './process.ts'

export const missingSshd = () => missing(['sshd', 'ssh', 'ssh-keygen'], 'openssh-server')

export interface Sshd extends Daemon {
  port: number
}

/** A host that accepts certificates of these authorities, set up as in docs/leases/ssh.md. */
export async function startSshd(folder: Folder, authorities: string[]): Promise<Sshd> {
  const port = await freePort()
  const hostKey = `${folder.path}/host`
  await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', hostKey])
  writeFileSync(`${folder.path}/authorities`, authorities.map((publicKey) => `${publicKey}\n`).join(''))
  // As root, sshd separates privileges in a folder that the system’s own unit normally creates.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const config = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: hostKey,
    TrustedUserCAKeys: `${folder.path}/authorities`,
    AuthorizedKeysFile: 'none',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    PermitRootLogin: 'yes',
    UsePAM: 'no',
    StrictModes: 'no',
    PidFile: 'none',
  }
  const lines = Object.entries(config).map(([name, value]) => `${name} ${value}\n`)
  writeFileSync(`${folder.path}/sshd_config`, lines.join(''))
  const daemon = await startDaemon(findBinary('sshd')!, ['-D', '-e', '-f', `${folder.path}/sshd_config`], {
    ready: /Server listening/,
    user: {},
    cwd: folder.path,
  })
  return { ...daemon, port }
}
