import { Command } from 'commander'
import { expect, it } from 'vitest'
import { leaseProviderOption, takesSyncProvider } from '../src/vendors.ts'

/** Reads the two places where people type a provider, as the commands do. */
function typed(place: 'sync' | 'lease', word: string): unknown {
  const command = new Command()
  if (place === 'sync') takesSyncProvider(command.argument('<provider>')).action(() => {})
  else command.addOption(leaseProviderOption('what it is'))
  command.parse(place === 'sync' ? ['--', word] : [`--provider=${word}`], { from: 'user' })
  return place === 'sync' ? command.processedArgs[0] : command.opts().provider
}

function refused(place: 'sync' | 'lease', word: string): string {
  try {
    return `took ${String(typed(place, word))}`
  } catch (error) {
    const { kind, message, next } = error as { kind: string; message: string; next: string }
    return `${kind}: ${message}; ${next}`
  }
}

it.each([
  ['sync', 'github-actions', 'code-host-ci'],
  ['sync', 'GitHub Actions', 'code-host-ci'],
  ['sync', 'Vercel', 'frontend-cloud'],
  ['sync', 'fly.io', 'app-platform-c'],
  ['sync', 'cloud-a-secrets-manager', 'cloud-a-secrets-manager'],
  ['sync', 'EDGE-WORKERS', 'edge-workers'],
  ['lease', 'aws', 'cloud-a'],
  ['lease', 'Google-Cloud', 'cloud-b'],
  ['lease', 'PostgreSQL', 'postgres'],
  ['lease', 'cloud-a', 'cloud-a'],
] as const)('%s: %s is the tag %s', (place, word, tag) => {
  expect(typed(place, word)).toBe(tag)
})

it.each([
  ['sync', 'vercl', 'did you mean vercel?'],
  ['sync', 'flyio', 'did you mean fly-io?'],
  ['sync', 'github', 'did you mean github-actions?'],
  ['sync', 'GH', 'did you mean github-actions?'],
  ['sync', 'aws', 'did you mean aws-parameter-store or aws-secrets-manager?'],
  ['sync', 'gcp', 'did you mean google-secret-manager?'],
  ['sync', 'cloudflare', 'did you mean cloudflare-pages, cloudflare-workers or cloudflare-secrets-store?'],
  ['sync', 'nowhere', 'see `skerry sync providers`'],
  ['sync', '', 'see `skerry sync providers`'],
  ['sync', 'constructor', 'see `skerry sync providers`'],
  ['lease', 'mariadb', 'did you mean mysql?'],
  ['lease', 'valkey', 'did you mean redis?'],
  ['lease', 'pg', 'did you mean postgres?'],
  ['lease', 'gcp', 'did you mean google-cloud?'],
  ['lease', 'oracle', 'known: postgres, mysql, redis, ssh, aws, google-cloud, mongodb'],
] as const)('%s: %s is refused as a wrong command line, with a next step', (place, word, next) => {
  const noun = place === 'sync' ? 'sync destination' : 'kind of lease target'
  expect(refused(place, word)).toBe(`usage: there is no ${noun} '${word}'; ${next}`)
})

it('a pasted credential in place of a provider is not repeated', () => {
  expect(refused('sync', `FlyV1 fm2_${'x'.repeat(500)}`)).toBe(
    'usage: there is no sync destination of that name; see `skerry sync providers`',
  )
})
