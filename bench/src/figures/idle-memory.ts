import { setTimeout as sleep } from 'node:timers/promises'
import { get } from '../answer.ts'
import { type Child, startServer } from '../child.ts'
import { type Bench, type BenchOnPostgres, onDatabase } from '../figure.ts'
import type { Plan } from '../plan.ts'
import { makeTenant } from '../tenant.ts'

export async function idleMemoryPostgres({ plan, postgres }: BenchOnPostgres): Promise<number> {
  return idleMemory(plan, onDatabase(await postgres.createDatabase('idle')))
}

export async function idleMemoryEmbedded({ plan }: Bench): Promise<number> {
  return idleMemory(plan, {})
}

async function idleMemory(plan: Plan, settings: Record<string, string>): Promise<number> {
  await using server: Child = await startServer(settings)
  const { environmentId, member } = await makeTenant(server.url, 5)
  await get(`${server.url}/v1/resolve?env=${environmentId}`, member.bearer)
  await sleep(plan.idleMs)
  return await server.residentMb()
}
