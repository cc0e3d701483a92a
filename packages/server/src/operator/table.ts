import type { Command } from 'commander'
import type { WithDatabase } from './database.ts'

/**
 * All commands of `skerry-server`, in the order of its help. The module of a command is loaded only when the command is
 * used.
 */
interface CommandRow {
  name: string
  summary: string
  load: () => Promise<{ register: (command: Command, withDatabase: WithDatabase) => void }>
}

export const commands: readonly CommandRow[] = [
  { name: 'start', summary: 'Start the server, which runs until a signal ends it', load: () => import('./start.ts') },
  { name: 'audit', summary: 'Move old audit entries into a file', load: () => import('./audit.ts') },
  { name: 'jobs', summary: 'Jobs that failed for good: look at them, run them again', load: () => import('./jobs.ts') },
  { name: 'org', summary: 'Restore an organization from its archive', load: () => import('./org.ts') },
  {
    name: 'people',
    summary: 'People: how they sign in, repairs after a change of the identity provider',
    load: () => import('./people.ts'),
  },
  { name: 'plan', summary: 'Plans, overrides and promo codes of organizations', load: () => import('./plan.ts') },
  {
    name: 'rekey',
    summary: 'Seal everything anew, after SKERRY_SERVER_KEY was replaced',
    load: () => import('./rekey.ts'),
  },
  {
    name: 'sealed',
    summary: 'Data that the server key encrypts: list it, drop it after the key was lost or leaked',
    load: () => import('./sealed.ts'),
  },
]
