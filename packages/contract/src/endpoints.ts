import { apps } from './apps.ts'
import { audit } from './audit.ts'
import type { Endpoint } from './endpoint.ts'
import { branches, envs } from './envs.ts'
import { grants } from './grants.ts'
import { composition, groups } from './groups.ts'
import { me } from './me.ts'
import { invites, orgs } from './orgs.ts'
import { resolve } from './resolve.ts'
import { secrets } from './secrets.ts'
import { health, oauth, signup } from './signup.ts'
import { tokens } from './tokens.ts'

/** The whole API, by the specification's headings. Server, SDK, OpenAPI document and reference page derive from it. */
export const endpoints = {
  health,
  signup,
  oauth,
  me,
  orgs,
  invites,
  apps,
  envs,
  branches,
  groups,
  composition,
  secrets,
  resolve,
  grants,
  tokens,
  audit,
}

/** Heading, name and endpoint of every operation, in the table's order. */
export function listEndpoints(): { heading: string; name: string; endpoint: Endpoint }[] {
  return Object.entries(endpoints).flatMap(([heading, operations]) =>
    Object.entries(operations).map(([name, endpoint]) => ({ heading, name, endpoint: endpoint as Endpoint })),
  )
}
