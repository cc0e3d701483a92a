import { getCompileCacheDir } from 'node:module'
import { openPool, type Pool } from '@skerry/providers/children/pool'
import { warn } from '../output.ts'
import { ownFile } from '../own-file.ts'
import type { DoorSettings } from './adapters.ts'

/**
 * Variables for verifying TLS and for the folder of a driver's sockets. Nothing else of the environment reaches a
 * child.
 */
const kept = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'TMPDIR'] as const

/** The child processes in which this provisioner runs its adapters, for at most `max` jobs at once. */
export function openChildren(allowed: readonly string[] | undefined, max: number): Pool {
  const compiled = getCompileCacheDir()
  const set = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]))
  const door: DoorSettings = { allowed }
  return openPool({
    file: ownFile('provisioner/adapter-process.js'),
    environment: { ...Object.fromEntries(set), ...(compiled ? { NODE_COMPILE_CACHE: compiled } : {}) },
    door,
    max,
    maxOfOwner: max,
    onFault: ({ name, frames }) => warn(`an adapter failed: ${[name, ...frames].join('\n  ')}`),
  })
}
