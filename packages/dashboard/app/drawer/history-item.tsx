import { Badge, Button, Group, Text } from '@mantine/core'
import { useAction } from '../action.ts'
import type { Column, Entry } from '../secrets/columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { openCell } from '../secrets/use-revealed.ts'
import { orReread, restoreSecret } from '../secrets/write.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Reveal } from '../ui/reveal.tsx'
import { showToast } from '../ui/toast.ts'
import { explainEarlier } from './earlier-key.ts'
import type { Version } from './queries.ts'
import { useDifference } from './version-difference.tsx'

interface Props {
  orgId: string
  column: Column
  entry: Entry
  versions: Version[]
  version: Version
  /** The reason of a restoration that is proposed. */
  note: string
}

/** A version with its value, its difference from another version, and a button that restores it. */
export function HistoryItem({ orgId, column, entry, versions, version, note }: Props) {
  const { name } = entry.secret
  const isCurrent = version.version === entry.secret.version
  const nameOf = useNameOf(orgId)
  const difference = useDifference(entry, versions, version)
  const restore = useAction(async () => {
    const { environmentId } = column
    const restored = restoreSecret(orgId, environmentId, entry.secret, version.version, note)
    const outcome = await orReread(restored, orgId, environmentId)
    showToast(
      outcome === 'queued'
        ? `Restoring version ${version.version} of ${name} waits for approval.`
        : `Restored version ${version.version} of ${name}.`,
    )
  })
  const restoring = column.isProtected ? 'Propose to restore' : 'Restore'
  return (
    <li>
      <Group gap="sm">
        <Text fw={500}>Version {version.version}</Text>
        {isCurrent && <Badge color="sea">current</Badge>}
        <Group gap="xs" ml="auto">
          {difference.button}
          {!isCurrent && (
            <Button
              size="compact-xs"
              variant="default"
              loading={restore.pending}
              onClick={() => restore.run()}
              aria-label={`${restoring} version ${version.version}`}
            >
              {restoring}
            </Button>
          )}
        </Group>
      </Group>
      <Text size="xs" c="dimmed">
        <RelativeTime at={version.createdAt} /> by {nameOf(version.createdById)}
        {version.restoredFromVersion !== null && `, restored from version ${version.restoredFromVersion}`}
      </Text>
      <Reveal name={`version ${version.version}`} open={() => openVersion(column, entry, version)} />
      {difference.shown}
      <ProblemAlert error={restore.error} />
    </li>
  )
}

async function openVersion(column: Column, entry: Entry, { version, ciphertext }: Version): Promise<string> {
  const { secret } = entry
  try {
    return await openCell({ column, entry: { ...entry, secret: { ...secret, ciphertext } } })
  } catch (error) {
    throw version === secret.version ? error : explainEarlier(error, 'this version was')
  }
}
