import { Badge, Button, Group, Text } from '@mantine/core'
import { useAction } from '../action.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import type { Column, Entry } from '../secrets/columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { orReread, restoreSecret } from '../secrets/write.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { Reveal } from '../ui/reveal.tsx'
import { showToast } from '../ui/toast.ts'
import { explainEarlier } from './earlier-key.ts'
import { placedVersion } from './placed-version.ts'
import type { Version, VersionHistory } from './queries.ts'
import { useDifference } from './version-difference.tsx'

interface Props {
  orgId: string
  column: Column
  entry: Entry
  history: VersionHistory
  version: Version
  /**
   * False if nothing proves that this is a version of the secret, from before it was renamed. Undefined while the keyring's
   * worker has not said so.
   */
  isProven: boolean | undefined
  /** The reason of a restoration that is proposed. */
  note: string
}

/** A version with its value, its difference from another version, and a button that restores it. */
export function HistoryItem({ orgId, column, entry, history, version, isProven, note }: Props) {
  const { name } = entry.secret
  const isCurrent = version.version === entry.secret.version
  const nameOf = useNameOf(orgId)
  const difference = useDifference(entry, history, version)
  const restore = useAction(async () => {
    const { environmentId } = column
    if (version.formerName != null) await checkMeanings([environmentId])
    const resealed =
      version.formerName == null
        ? undefined
        : await keyring.call('resealVersion', placedVersion(entry, history, version))
    const restored = restoreSecret(orgId, environmentId, entry.secret, version.version, note, resealed)
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
              disabled={isProven !== true}
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
        {version.formerName != null && `, when it was called ${version.formerName}`}
      </Text>
      {isProven === false && (
        <Text size="xs" className="matrix-broken">
          Nothing proves that this is a version of {name}. The server may hide the record of its former names, or
          somebody with the key stored a wrong one. You cannot restore this version.
        </Text>
      )}
      <Reveal name={`version ${version.version}`} open={() => openVersion(entry, history, version)} />
      {difference.shown}
      <ProblemAlert error={restore.error} />
    </li>
  )
}

async function openVersion(entry: Entry, history: VersionHistory, version: Version): Promise<string> {
  try {
    return await keyring.call('openVersion', placedVersion(entry, history, version))
  } catch (error) {
    throw version.version === entry.secret.version ? error : explainEarlier(error, 'this version was')
  }
}
