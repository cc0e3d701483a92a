import type { billing } from '@skerry/contract/billing/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { type InOrg, inOrg } from '../frame.ts'
import { argumentOr, confirmable, formerly, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'

type View = Answer<typeof billing.get>

export function register(command: Command): void {
  leaf(command, 'ls', 'List the plans of the organization, and the features that they include')
    .alias('show')
    .action(inOrg(show))
  leaf(command, 'usage', 'Show how much of its plan the organization uses').action(inOrg(showUsage))
  formerly(leaf(command, 'checkout [plan]', 'Buy a plan: print the address of the payment page'), '--plan <plan>')
    .option('--family <family>', 'platform or vault', 'platform')
    .action(inOrg(checkout, parseCheckout))
  leaf(command, 'portal', 'Print the address of the page where you manage payments').action(inOrg(portal))
  leaf(command, 'promo <code>', 'Redeem a promotion code').action(inOrg(promo))
  confirmable(leaf(command, 'cancel', 'End all plans of the organization at once')).action(inOrg(cancel))
}

async function show(work: InOrg): Promise<Output> {
  const view = await fetchView(work)
  return { json: view, text: () => writePlans(view) }
}

function writePlans({ families, entitlements, overrides, enforced }: View): void {
  writeTable(
    ['family', 'plan', 'paid', 'until'],
    families.map(({ plan, subscription, promo }) => [
      plan.family,
      plan.name,
      subscription?.status ?? '',
      shownTime(promo?.endsAt ?? subscription?.currentPeriodEnd ?? null, ''),
    ]),
  )
  writeLine('')
  writeTable(
    ['feature', 'included'],
    entitlements.map(({ key, granted }) => [key.replace(/^feature\./, ''), granted ? 'yes' : 'no']),
  )
  for (const { key, value, reason } of overrides) note(`${key} is set to ${value ?? 'unlimited'}: ${reason}`)
  if (!enforced) note('this server enforces no limits')
}

async function showUsage(work: InOrg): Promise<Output> {
  const view = await fetchView(work)
  return { json: { usage: view.usage, enforced: view.enforced }, text: () => writeUsage(view) }
}

function writeUsage(view: View): void {
  writeTable(
    ['metric', 'used', 'included'],
    view.usage.map(({ key, quantity, included }) => [
      key,
      quantity === null ? 'unknown' : String(quantity),
      included === null || !view.enforced ? 'unlimited' : String(included),
    ]),
  )
  if (!view.enforced) note('this server enforces no limits')
}

const fetchView = ({ session, orgId }: InOrg): Promise<View> => session.client.billing.get({ params: { orgId } })

async function checkout(
  _plan: string | undefined,
  { session, orgId, input: { family, plan } }: InOrg<CheckoutOptions, typeof parseCheckout>,
): Promise<Output> {
  const body = { family, ...(plan === undefined ? {} : { plan }) } as const
  const answer = await session.client.billing.checkout({ params: { orgId }, body })
  return { json: answer, text: () => writeLine(answer.url) }
}

interface CheckoutOptions extends Flags {
  family: string
  plan?: string
}

function parseCheckout({ family, plan: before }: CheckoutOptions, wanted: string | undefined) {
  const plan = wanted === undefined && before === undefined ? undefined : argumentOr(wanted, before, 'plan')
  if (plan !== undefined && !/^[a-z0-9_]{1,32}$/.test(plan))
    throw usage(`there is no plan '${plan}'`, '`skerry plan ls` shows the plans')
  if (family !== 'platform' && family !== 'vault') throw usage('--family must be platform or vault')
  return { family, plan } as const
}

async function portal({ session, orgId }: InOrg): Promise<Output> {
  const answer = await session.client.billing.portal({ params: { orgId } })
  return { json: answer, text: () => writeLine(answer.url) }
}

async function promo(code: string, { session, orgId }: InOrg): Promise<Output> {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(code)) throw usage(`'${code}' is no promotion code`, 'type it as you were given it')
  const view = await session.client.billing.promo({ params: { orgId }, body: { code } })
  return { json: view, text: () => writePlans(view) }
}

async function cancel({ session, flags, orgId, org: { slug } }: InOrg<Confirmable>): Promise<Output> {
  await confirmOrRefuse(`ends all plans of ${slug}`, flags)
  const answer = await session.client.billing.cancel({ params: { orgId } })
  note(`${slug} uses the free plans now`)
  return { json: answer }
}
