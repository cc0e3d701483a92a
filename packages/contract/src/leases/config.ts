import type { LeaseConfig, LeaseTag } from './providers.ts'
import { type LeasePlaceholder, templateProblem } from './templates.ts'

const placeholders = {
  postgres: ['roleName', 'verifier', 'expiresAt', 'database', 'schema'],
  mysql: ['roleName', 'verifier', 'expiresAt', 'database', 'userHost'],
  redis: ['roleName'],
} as const satisfies Record<string, readonly LeasePlaceholder[]>

/**
 * Returns why a target’s config is invalid, or null if it is valid. It checks rules between fields; the schemas check each
 * field alone. The reason begins with the path of the field.
 *
 * @example leaseConfigProblem({ ...config, accessLevel: 'custom' } as typeof config) // 'createStatements: needed for the level custom'
 */
export function leaseConfigProblem(config: LeaseConfig<LeaseTag>): string | null {
  if ('provisionerTokenId' in config && config.executor === 'in_broker')
    return 'provisionerTokenId: only for the executor provisioner'
  if (config.executor === 'provisioner' && !('provisionerTokenId' in config && config.provisionerTokenId))
    return 'provisionerTokenId: needed for the executor provisioner'
  switch (config.provider) {
    case 'postgres':
    case 'mysql':
      return statementsProblem(config)
    case 'redis':
      return levelProblem(config, 'rules', config.rules) ?? firstProblem('rules', config.rules, placeholders.redis)
    case 'mongodb':
      return levelProblem(config, 'roles', config.roles)
    default:
      return null
  }
}

function statementsProblem(config: LeaseConfig<'postgres'> | LeaseConfig<'mysql'>): string | null {
  const { createStatements, revokeStatements } = config
  if (config.accessLevel !== 'custom' && revokeStatements) return 'revokeStatements: only for the level custom'
  const allowed = placeholders[config.provider]
  const problem =
    levelProblem(config, 'createStatements', createStatements) ??
    firstProblem('createStatements', createStatements, allowed) ??
    firstProblem('revokeStatements', revokeStatements, allowed)
  if (problem !== null || !createStatements) return problem
  const missing = (['roleName', 'verifier'] as const).find((name) => !createStatements.join().includes(`{{${name}}}`))
  return missing === undefined ? null : `createStatements: {{${missing}}} is in none of them`
}

/** A built-in level needs no definition. A custom level must have one. */
function levelProblem({ accessLevel }: { accessLevel: string }, field: string, value: unknown): string | null {
  if (accessLevel === 'custom') return value === undefined ? `${field}: needed for the level custom` : null
  return value === undefined ? null : `${field}: only for the level custom`
}

function firstProblem(field: string, templates: readonly string[] = [], allowed: readonly LeasePlaceholder[]) {
  for (const [index, template] of templates.entries()) {
    const problem = templateProblem(template, allowed)
    if (problem !== null) return `${field}[${index}]: ${problem}`
  }
  return null
}
