import type { PostgresService } from '../../packages/server/test/services/postgres.ts'
import type { Loader } from './loader.ts'
import type { Plan } from './plan.ts'

/** The means to measure a figure. */
export interface Bench {
  plan: Plan
  loader: Loader
  /** A PostgreSQL for this run only, with fsync. Null if the machine has none. */
  postgres: PostgresService | null
}

export interface BenchOnPostgres extends Bench {
  postgres: PostgresService
}

/** A line of the output: its name, its required value, and the function in `figures/` that measures it. */
export type Figure = {
  name: string
  unit: 'ratio' | 'MB' | 'requests' | 'seconds' | 'connections' | 'entries' | 'ms' | 'µs'
  required: { min: number } | { max: number }
} & (
  | { needsPostgres: false; measure: (bench: Bench) => Promise<number> }
  | { needsPostgres: true; measure: (bench: BenchOnPostgres) => Promise<number> }
)

/** The number of database connections of a server or a floor. */
export const poolSize = 10

export const onDatabase = (databaseUrl: string) => ({
  SKERRY_DATABASE_URL: databaseUrl,
  SKERRY_DATABASE_POOL: String(poolSize),
})

export const withoutCache = { SKERRY_RESOLVE_CACHE_MB: '0' }

/** With PostgreSQL a server has no server key unless it is set. */
export const withServerKey = { SKERRY_SERVER_KEY: Buffer.alloc(32, 7).toString('base64url') }
