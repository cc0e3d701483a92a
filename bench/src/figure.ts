import type { PostgresService } from '../../packages/server/test/services/postgres.ts'
import type { Loader } from './loader.ts'
import type { Plan } from './plan.ts'

/** What figures are measured with. */
export interface Bench {
  plan: Plan
  loader: Loader
  /** Of this run's own, with fsync; null where the machine has none. */
  postgres: PostgresService | null
}

export interface BenchOnPostgres extends Bench {
  postgres: PostgresService
}

/** A line of the output: what it is called, what it has to be, and the function of `figures/` that measures it. */
export type Figure = {
  name: string
  unit: 'ratio' | 'MB' | 'requests' | 'seconds' | 'connections' | 'entries' | 'ms' | 'µs'
  required: { min: number } | { max: number }
} & (
  | { needsPostgres: false; measure: (bench: Bench) => Promise<number> }
  | { needsPostgres: true; measure: (bench: BenchOnPostgres) => Promise<number> }
)

/** Connections to the database, of a server and of a floor alike. */
export const poolSize = 10

export const onDatabase = (databaseUrl: string) => ({
  SKERRY_DATABASE_URL: databaseUrl,
  SKERRY_DATABASE_POOL: String(poolSize),
})

export const withoutCache = { SKERRY_RESOLVE_CACHE_MB: '0' }

/** On PostgreSQL a server has none unless it is given. */
export const withServerKey = { SKERRY_SERVER_KEY: Buffer.alloc(32, 7).toString('base64url') }
