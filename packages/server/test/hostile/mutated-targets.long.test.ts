import type { LeaseTag } from '@skerry/contract/leases/providers'
import type { LeaseTarget } from '@skerry/providers/leases/provider'
import { ProviderError } from '@skerry/providers/provider-error'
import { afterAll, describe, expect, test } from 'vitest'
import { key, roleArn, stsFake } from '../../../providers/test/leases/aws-sts-fake.ts'
import { account, googleFake, serviceAccountKey } from '../../../providers/test/leases/google-iam-fake.ts'
import { askFor, type DatabaseTag, mintFor } from '../../../providers/test/leases/mint.ts'
import { startMongodbFake } from '../../../providers/test/leases/mongodb-fake.ts'
import { mariadbScene, missingMariadb } from '../../../providers/test/leases/mysql-scene.ts'
import { postgresScene } from '../../../providers/test/leases/postgres-scene.ts'
import { missingRedis, redisScene } from '../../../providers/test/leases/redis-scene.ts'
import { Refusal } from '../../src/kernel/errors.ts'
import { openTenant } from '../scene.ts'
import { openMutatingWire } from '../services/mutating-wire.ts'
import { missingPostgres } from '../services/postgres.ts'

// A thousand conversations with each adapter. In each of them one piece of the target's answers is changed. The server
// must keep answering, whether the job succeeds or fails.

const conversations = 1000
/** Two organizations, because one may use at most half of the child processes. */
const owners = ['org_one', 'org_two']
const atOnce = 4
const answerMs = 300
const seed = 20_261_126

interface Real {
  port: number
  target(port: number): LeaseTarget<LeaseTag>
  stop(): Promise<unknown>
}

const loopback = (port: number, more: object) => ({ host: '127.0.0.1', port, tls: 'disable', ...more })

const postgres = async (): Promise<Real> => {
  const scene = await postgresScene()
  const { config, credential } = scene.target('readonly')
  const at = new URL(credential)
  return {
    port: Number(at.port),
    target: (port) => ({
      config: { ...config, connection: loopback(port, { database: config.connection.database }) } as typeof config,
      credential: credential.replace(/@localhost:\d+/, `@127.0.0.1:${port}`),
    }),
    stop: scene.stop,
  }
}

const mysql = async (): Promise<Real> => {
  const scene = await mariadbScene()
  const { config, credential } = scene.target('readonly')
  return {
    port: Number(new URL(credential).port),
    target: (port) => ({
      config: { ...config, connection: loopback(port, { database: config.connection.database }) } as typeof config,
      credential: credential.replace(/@localhost:\d+/, `@127.0.0.1:${port}`),
    }),
    stop: scene.stop,
  }
}

const redis = async (): Promise<Real> => {
  const scene = await redisScene()
  const { config } = scene.target('readonly')
  return {
    port: scene.root.options.port as number,
    target: (port) => ({
      config: { ...config, connection: loopback(port, { db: 1 }) } as typeof config,
      credential: `redis://skerry_admin:adminpassword@127.0.0.1:${port}/1`,
    }),
    stop: scene.stop,
  }
}

const mongodb = async (): Promise<Real> => {
  const fake = await startMongodbFake({ user: 'skerry', password: 'adminpassword' })
  return {
    port: fake.port,
    target: (port) => ({
      config: {
        provider: 'mongodb',
        executor: 'in_broker',
        connection: { host: '127.0.0.1', port, database: 'shop' },
        accessLevel: 'readonly',
      },
      credential: `mongodb://skerry:adminpassword@127.0.0.1:${port}/shop?authSource=admin`,
    }),
    stop: () => fake.stop(),
  }
}

const aws = async (): Promise<Real> => {
  const fake = await stsFake()
  return {
    port: Number(new URL(fake.origin).port),
    target: () => ({
      config: {
        provider: 'cloud-a',
        executor: 'in_broker',
        roleArn,
        region: 'eu-central-1',
        externalId: 'from-skerry',
      },
      credential: JSON.stringify({ accessKeyId: key.id, secretAccessKey: key.secret }),
    }),
    stop: fake.stop,
  }
}

const google = async (): Promise<Real> => {
  const fake = await googleFake()
  return {
    port: Number(new URL(fake.origin).port),
    target: () => ({
      config: { provider: 'cloud-b', executor: 'in_broker', serviceAccount: account },
      credential: JSON.stringify(serviceAccountKey),
    }),
    stop: () => fake.stop(),
  }
}

/** Without SSH: the server makes certificates itself and has no conversation with the target. */
type Tag = Exclude<LeaseTag, 'ssh'>

/** `pieces`: about how many pieces a whole conversation has. */
const adapters: { tag: Tag; pieces: number; skip: string | undefined; open: () => Promise<Real> }[] = [
  { tag: 'postgres', pieces: 12, skip: missingPostgres(), open: postgres },
  { tag: 'mysql', pieces: 12, skip: missingMariadb(), open: mysql },
  { tag: 'redis', pieces: 12, skip: missingRedis(), open: redis },
  { tag: 'mongodb', pieces: 12, skip: undefined, open: mongodb },
  { tag: 'cloud-a', pieces: 2, skip: undefined, open: aws },
  { tag: 'cloud-b', pieces: 2, skip: undefined, open: google },
]

const wires = Object.fromEntries(
  await Promise.all(
    adapters.map(async ({ tag, pieces }, index) => [tag, await openMutatingWire(seed + index, pieces)] as const),
  ),
)
afterAll(() => Promise.all(Object.values(wires).map((wire) => wire.close())))
const originOf = (tag: string) => `http://127.0.0.1:${wires[tag]?.port}`
const { world } = await openTenant({
  SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  SKERRY_PROVIDER_ORIGINS: JSON.stringify({ 'cloud-a': originOf('cloud-a'), 'cloud-b': originOf('cloud-b') }),
})
const { context } = world.server

const wish = (tag: Tag) => (tag === 'cloud-a' || tag === 'cloud-b' ? askFor(900) : mintFor(tag as DatabaseTag))

/** Makes a lease and removes it -> whether both succeeded. An error other than a refusal fails the test. */
async function converse(owner: string, target: LeaseTarget<LeaseTag>, tag: Tag): Promise<boolean> {
  const { lease, ref } = wish(tag)
  try {
    await context.adapters.onTarget(owner, target, { now: () => new Date(), answerMs }, async (session) => {
      await session.verify()
      const { resourceRef } = await session.create(lease as never)
      await session.revoke({ ...ref, resourceRef })
    })
    return true
  } catch (error) {
    if (error instanceof ProviderError || error instanceof Refusal) return false
    throw error
  }
}

describe.each(adapters)('$tag', ({ tag, skip, open }) => {
  test.skipIf(skip !== undefined)(
    'a thousand conversations, each changed in one place, do not keep the server from answering',
    async () => {
      const wire = wires[tag] as Awaited<ReturnType<typeof openMutatingWire>>
      const real = await open()
      wire.to(real.port)
      const target = real.target(wire.port)
      let left = conversations
      let failed = 0
      const talk = async (worker: number): Promise<void> => {
        while (left-- > 0) if (!(await converse(owners[worker % owners.length] as string, target, tag))) failed++
      }
      const talking = Promise.all(Array.from({ length: atOnce }, (_, worker) => talk(worker)))
      let isOver = false
      const over = talking.finally(() => {
        isOver = true
      })
      let looks = 0
      while (!isOver) {
        const { status } = await fetch(`${world.url}/health`, { signal: AbortSignal.timeout(20_000) })
        expect(status).toBe(200)
        looks++
        await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 100))])
      }
      await over
      // If the adapter noticed no change, the test would prove nothing.
      expect(wire.changed).toBeGreaterThan(conversations / 4)
      expect(failed).toBeGreaterThan(conversations / 20)
      // If every conversation failed, the test would prove nothing either.
      expect(failed).toBeLessThan(conversations)
      expect(looks).toBeGreaterThan(10)
      expect(context.adapters.pids().length).toBeLessThanOrEqual(4)
      await real.stop()
    },
    1_800_000,
  )
})
