import { roleNamePattern } from '@skerry/contract/leases/facts'
import { secretNamePattern } from '@skerry/contract/patterns'
import { z } from 'zod'

// The fields of tools. Their patterns do not repeat the checks of the command. They prevent that a text is read as an
// option.

/** A slug, a name or an id. */
const handle = z.string().regex(/^[A-Za-z0-9][\w.@:-]{0,254}$/)
const duration = z.string().regex(/^(\d+[smhd]?|never)$/)

const app = handle.optional().describe('application; that of the project folder unless given')
const env = handle.optional().describe('environment; that of the project folder unless given')
const branch = handle.optional().describe('branch of the environment')

/** An environment of an application. */
export const appPlace = { app, env }
export const branchPlace = { ...appPlace, branch }
/** Any environment. */
export const anyPlace = { ...branchPlace, group: handle.optional().describe('group, instead of an application') }

export const fields = {
  secret: z.string().regex(new RegExp(secretNamePattern)).describe('name of the secret'),
  app,
  group: handle.describe('group'),
  slug: handle.describe('lowercase letters, digits and inner hyphens'),
  from: handle.optional().describe('environment that the branch is forked from'),
  token: handle.describe('id of the service token, skt_ and 22 characters'),
  target: handle.describe('name or id of the target'),
  lease: handle.describe('id of the lease'),
  key: handle.describe('name or id of the managed key'),
  displayName: z.string().max(200).optional().describe('name for people; the slug unless given'),
  roleName: z
    .string()
    .regex(new RegExp(roleNamePattern))
    .optional()
    .describe('of the account; a fresh one unless given'),
  ttl: duration.optional().describe('how long it lives: 30s, 15m, 24h, 7d'),
  context: z.string().max(1024).optional().describe('what it belongs to: it opens only with the same text'),
  reveal: z
    .boolean()
    .optional()
    .describe('show what is secret; only where `skerry mcp` was started with --allow-reveal'),
  file: z.string().min(1).optional().describe('new file for what is secret, readable by its owner alone'),
}

/** Formats options as arguments, with the value in the same argument, so that no value is read as an option. */
export function options(given: Readonly<Record<string, string | number | boolean | undefined>>): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    return [value === true ? `--${name}` : `--${name}=${value}`]
  })
}
