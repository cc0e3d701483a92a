import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    engine: 'embedded' | 'postgres'
    /** Signs people in: a test issuer that only makes tokens, Skerry itself, or a real provider with its pages. */
    signIn: 'issuer' | 'built_in' | 'provider'
    /** The folder of this run for what its tests throw away. */
    scratch: string
    /** Embedded: a data directory to copy. */
    templateDir: string
    /** PostgreSQL: the URL of this run's own cluster, which has a template database to copy. */
    postgresUrl: string
  }
}

export interface TestDatabase {
  settings: Record<string, string>
  drop: () => Promise<void>
}

export const engine = (): 'embedded' | 'postgres' => inject('engine')

/** A migrated, empty database of this suite's engine, copied from the template of the run. */
export async function newDatabase(dataDir: string): Promise<TestDatabase> {
  if (engine() === 'embedded') {
    cpSync(join(inject('templateDir'), 'postgres'), join(dataDir, 'postgres'), { recursive: true })
    return { settings: {}, drop: async () => {} }
  }
  const name = `world_${randomBytes(8).toString('hex')}`
  await administer(`create database ${name} template template_skerry`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  return {
    settings: { SKERRY_DATABASE_URL: url.href, SKERRY_DATABASE_POOL: '5' },
    drop: () => administer(`drop database ${name} with (force)`),
  }
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
