import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { postgresScene } from '../../providers/test/leases/postgres-scene.ts'
import { folderFor } from '../../providers/test/services/process.ts'
import { missingSshd, startSshd } from '../../providers/test/services/sshd.ts'
import { newSshKey } from '../../server/test/lease-steps.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import type { Machine } from './machine.ts'

/** A database and a host for which transcripts make leases. */
export interface LeaseScene {
  /** Writes the files of an admin of both, and sets $SSH to the options for the host. */
  furnish: (machine: Machine) => Promise<void>
  close: () => Promise<void>
}

export const missingForLeases = (): string | undefined => missingPostgres() ?? missingSshd()

export async function openLeaseScene(): Promise<LeaseScene> {
  const postgres = await postgresScene()
  const { config, credential } = postgres.target('readonly')
  const folder = folderFor({}, 'transcript-sshd')
  const { publicKey, privateKey } = newSshKey()
  const authority = join(folder.path, 'ca')
  writeFileSync(authority, privateKey)
  const sshd = await startSshd(folder, [publicKey])
  const knownHosts = join(folder.path, 'known_hosts')
  return {
    async furnish(machine) {
      await machine.write('ca.pem', config.connection.caCertificate as string)
      await machine.write('admin-url', `${credential}\n`)
      await machine.write('ssh-ca', readFileSync(authority, 'utf8'))
      await machine.write('ssh-ca.pub', `${publicKey} the authority\n`)
      machine.env.USER = userInfo().username
      // The host is unknown, and the SSH configuration of the person who runs the suite is ignored.
      machine.env.SSH = `-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR -o UserKnownHostsFile=${knownHosts} -p ${sshd.port}`
    },
    async close() {
      await postgres.stop()
      await sshd.stop()
      folder.remove()
    },
  }
}
