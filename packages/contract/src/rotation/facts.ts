import type { LeaseTag } from '../leases/facts.ts'

// Facts about every kind of rotation without its schema, for clients. The config is in kinds.ts.

interface Facts {
  /** The name that people use. */
  label: string
  /** The provider of its lease target. Null if it contacts no target. */
  target: LeaseTag | null
  /** The placeholders that its statements may use. */
  placeholders: readonly string[]
}

/** Every kind of rotation, by tag. */
export const rotationFacts = {
  generated: { label: 'A random value', target: null, placeholders: [] },
  postgres: { label: 'Password of a PostgreSQL account', target: 'postgres', placeholders: ['username', 'verifier'] },
  mysql: {
    label: 'Password of a MySQL or MariaDB account',
    target: 'mysql',
    placeholders: ['username', 'userHost', 'verifier'],
  },
  redis: { label: 'Password of a Redis or Valkey account', target: 'redis', placeholders: ['username', 'verifier'] },
} as const satisfies Record<string, Facts>

export type RotationKind = keyof typeof rotationFacts
