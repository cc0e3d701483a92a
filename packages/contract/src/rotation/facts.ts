import type { LeaseTag } from '../leases/facts.ts'

// What is known of every kind of rotation without its schema, for clients. Its config: kinds.ts.

interface Facts {
  /** What people call it. */
  label: string
  /** The provider that its lease target has; null where nothing is reached. */
  target: LeaseTag | null
  /** What its statements may ask for. */
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
