import type { billing } from '@skerry/contract/billing/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

type View = Answer<typeof billing.get>

export function register(command: Command): void {
  leaf(command, 'show', 'The plans, and which features they grant').action(show)
  leaf(command, 'usage', 'What the plan includes, and how much of it is used').action(showUsage)
  leaf(command, 'checkout', 'Begin to pay for a plan: prints the address where a person goes on')
    .option('--family <family>', 'platform or vault', 'platform')
    .option('--plan <plan>', 'the next higher one that is for sale, unless given')
    .action(checkout)
  leaf(command, 'portal', 'The address where payments are managed').action(portal)
  leaf(command, 'promo <code>', 'Redeem a promo code').action(promo)
  confirmable(leaf(command, 'cancel', 'End every plan above the free ones, at once')).action(cancel)
}

async function show(flags: Flags): Promise<void> {
  const view = await fetchView(flags)
  if (flags.json) return writeJson(view)
  writePlans(view)
}

function writePlans({ families, entitlements, overrides, enforced }: View): void {
  writeTable(
    ['family', 'plan', 'paid', 'until'],
    families.map(({ plan, subscription, promo }) => [
      plan.family,
      plan.name,
      subscription?.status ?? '',
      promo?.endsAt ?? subscription?.currentPeriodEnd ?? '',
    ]),
  )
  writeLine('')
  writeTable(
    ['feature', 'granted'],
    entitlements.map(({ key, granted }) => [key.replace(/^feature\./, ''), granted ? 'yes' : 'no']),
  )
  for (const { key, value, reason } of overrides) note(`${key} is set to ${value ?? 'unlimited'}: ${reason}`)
  if (!enforced) note('this server enforces no limits')
}

async function showUsage(flags: Flags): Promise<void> {
  const view = await fetchView(flags)
  if (flags.json) return writeJson({ usage: view.usage, enforced: view.enforced })
  writeTable(
    ['metric', 'used', 'included'],
    view.usage.map(({ key, quantity, included }) => [
      key,
      quantity === null ? 'unknown' : String(quantity),
      included === null || !view.enforced ? 'unlimited' : String(included),
    ]),
  )
  if (!view.enforced) note('this server enforces no limits of plans')
}

async function fetchView(flags: Flags): Promise<View> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  return session.client.billing.get({ params: { orgId } })
}

async function checkout(flags: Flags & { family: string; plan?: string }): Promise<void> {
  const { family, plan } = flags
  if (family !== 'platform' && family !== 'vault') throw usage('--family takes platform or vault')
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const body = { family, ...(plan === undefined ? {} : { plan }) } as const
  const answer = await session.client.billing.checkout({ params: { orgId }, body })
  if (flags.json) return writeJson(answer)
  writeLine(answer.url)
}

async function portal(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const answer = await session.client.billing.portal({ params: { orgId } })
  if (flags.json) return writeJson(answer)
  writeLine(answer.url)
}

async function promo(code: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const view = await session.client.billing.promo({ params: { orgId }, body: { code } })
  if (flags.json) return writeJson(view)
  writePlans(view)
}

async function cancel(flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId, slug } = await session.org()
  await confirmOrRefuse(`ends every plan of ${slug} above the free ones`, flags)
  const answer = await session.client.billing.cancel({ params: { orgId } })
  note('ended; the free plans hold from now on')
  if (flags.json) writeJson(answer)
}
