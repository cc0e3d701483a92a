import type { RootBody } from '@skerry/crypto/directory/root'
import { differenceLine, type EntryNames } from '@skerry/sdk/internal/directory/words'
import { formatAge } from '../duration.ts'
import { Failure } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { note, type Output, writeLine } from '../output.ts'
import type { Session } from '../session.ts'
import { type Compared, compareAll, isClosed } from './compare.ts'
import { listOldPins } from './old-pins.ts'
import { openKnown } from './open.ts'
import { recoveryLine, recoveryRow } from './recovery-key.ts'

/** Shows who signs, how old the newest head is, what nobody has signed yet, and which tokens trust former signers. */
export async function status({ session, orgId }: InOrg): Promise<Output> {
  const compared = await compareAll(session, orgId, openOld)
  const { root, head } = compared.directory
  const oldPins = await listOldPins(session, compared.directory, compared.nameOf)
  return {
    json: {
      root: { version: root.body.version, hash: root.hash, threshold: root.body.threshold },
      signers: signersOf(root.body, compared.nameOf),
      rescue: root.body.rescue && { threshold: root.body.rescue.threshold, keys: root.body.rescue.keys.length },
      head: { version: head.body.version, hash: head.hash, issuedAt: instantOf(head.body.issuedAt) },
      entries: head.body.count,
      recovery: recoveryJson(compared),
      unsigned: unsignedRows(compared),
      oldPins,
    },
    text: () => writeStatus(compared, oldPins),
  }
}

const openOld = (session: Session, orgId: string) => openKnown(session, orgId, { acceptOld: true })

const instantOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

export const signersOf = ({ signers }: RootBody, nameOf: EntryNames) =>
  signers.map((one) => {
    const [kind, id] = 'person' in one ? (['person', one.person] as const) : (['token', one.token] as const)
    return { kind, id, name: nameOf(`${kind}/${id}`), kid: one.kid }
  })

const recoveryJson = ({ recovery: { state, signed, shown } }: Compared) => ({ state, signed, shown })

const unsignedRows = ({ differences, recovery, nameOf }: Compared) => [
  ...recoveryRow(recovery),
  ...differences.map((one) => ({
    key: one.key,
    change: one.kind,
    text: differenceLine(one, nameOf),
    signable: !isClosed(one),
  })),
]

function writeStatus(compared: Compared, oldPins: Awaited<ReturnType<typeof listOldPins>>): void {
  const { directory, recovery, nameOf } = compared
  const unsigned = unsignedRows(compared)
  const { root, head } = directory
  const { threshold, rescue } = root.body
  writeLine(`root ${root.body.version}: ${root.hash}`)
  writeLine(`signers: ${[...new Set(signersOf(root.body, nameOf).map(({ name }) => name))].join(', ')}`)
  writeLine(`signatures that a change of the signers needs: ${threshold}`)
  writeLine(rescue ? `rescue codes: ${rescue.threshold} of ${rescue.keys.length} are needed` : 'rescue codes: none')
  writeLine(
    `head ${head.body.version}: ${head.body.count} entries, signed ${formatAge(Math.max(0, Date.now() / 1000 - head.body.issuedAt))} ago`,
  )
  writeLine(recoveryLine(recovery))
  if (unsigned.length === 0) writeLine('everything that the server shows is signed')
  for (const { text } of unsigned) writeLine(`not signed: ${text}`)
  if (unsigned.length > 0) note('read these lines, then sign them with `skerry trust sign`')
  for (const one of oldPins)
    writeLine(`the pin of token ${one.name} may be of root ${one.root}, which trusts ${one.former.join(', ')}`)
  if (oldPins.length > 0)
    note('replace the pin, between the first and the second dot of each token, with the output of `skerry trust pin`')
  tellRisks(root.body)
}

function tellRisks({ signers, rescue }: RootBody): void {
  const persons = new Set(signers.flatMap((one) => ('person' in one ? [one.person] : [])))
  if (persons.size <= 1 && !rescue)
    note('one signer alone is a risk: see `skerry trust signers add` and `skerry trust rescue setup`')
}

/** Verifies the chain, all entries, all claims and the recovery key. Fails if anything is not as it was signed. */
export async function verify({ session, orgId }: InOrg): Promise<Output> {
  const compared = await compareAll(session, orgId)
  const { root, head, entries } = compared.directory
  const unsigned = unsignedRows(compared)
  const count = unsigned.length
  return {
    json: {
      verified: count === 0,
      root: root.body.version,
      head: head.body.version,
      entries: entries.size,
      unsigned,
    },
    text: () => {
      for (const { text } of unsigned) writeLine(`not signed: ${text}`)
      if (count === 0)
        writeLine(
          `root ${root.body.version}, head ${head.body.version} and ${entries.size} entries are signed and match the server`,
        )
    },
    after: () => {
      if (count === 0) return
      const what = count === 1 ? '1 fact is' : `${count} facts are`
      throw new Failure(
        'refused',
        `${what} not as signed`,
        'see `skerry trust status`, and sign with `skerry trust sign`',
      )
    },
  }
}
