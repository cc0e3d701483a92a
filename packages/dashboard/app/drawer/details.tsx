import { Badge, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Column, Entry, Layer } from '../secrets/columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { ClosedDescription } from './closed-description.tsx'
import { DetailsForm } from './details-form.tsx'
import { type Details, detailsQuery } from './queries.ts'
import { type Described, useDescribed } from './use-described.ts'

interface Props {
  orgId: string
  column: Column
  name: string
  entry: Entry | undefined
}

/**
 * The details of a secret: description, tags, owner and expiry date. A value that comes from a lower layer has its
 * details there.
 */
export function DetailsPart({ orgId, column, name, entry }: Props) {
  const layer = entry?.layer ?? column.own
  if (!layer) return null
  const isOwn = layer.environmentId === column.environmentId
  return <OfLayer {...{ orgId, column, name, layer, isOwn }} hasValue={entry !== undefined} />
}

function OfLayer(props: Omit<Props, 'entry'> & { layer: Layer; isOwn: boolean; hasValue: boolean }) {
  const { orgId, column, name, layer, isOwn, hasValue } = props
  const query = useQuery(detailsQuery(orgId, layer.environmentId))
  const row = query.data?.get(name)
  const described = useDescribed(layer, name, row)
  const [isEditing, setIsEditing] = useState(false)
  return (
    <Section
      title="Details"
      description={!isOwn && `From ${layer.label}, where you can edit them.`}
      actions={
        isOwn &&
        query.data &&
        !isEditing && (
          <Button variant="default" onClick={() => setIsEditing(true)}>
            Edit details
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {() =>
          isEditing ? (
            <DetailsForm
              {...{ orgId, name, layer, row, described, hasValue }}
              where={column.name}
              onClose={() => setIsEditing(false)}
            />
          ) : row ? (
            <DetailsFacts {...{ orgId, row, described }} />
          ) : (
            <Text c="dimmed">No description, owner or expiry date yet.</Text>
          )
        }
      </Loaded>
    </Section>
  )
}

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })

function DetailsFacts({ orgId, row, described }: { orgId: string; row: Details; described: Described }) {
  const nameOf = useNameOf(orgId)
  const { ownerId, expiresAt, notNeeded } = row
  return (
    <>
      <DescriptionFacts described={described} />
      <dl className="facts">
        {ownerId !== null && (
          <>
            <dt>Owner</dt>
            <dd>{nameOf(ownerId)}</dd>
          </>
        )}
        {expiresAt !== null && (
          <>
            <dt>{Date.parse(expiresAt) > Date.now() ? 'Expires' : 'Expired'}</dt>
            <dd>
              <RelativeTime at={expiresAt} />, {day.format(new Date(expiresAt))}
            </dd>
          </>
        )}
        {notNeeded && (
          <>
            <dt>Not needed</dt>
            <dd>missing in this environment on purpose</dd>
          </>
        )}
        <dt>Edited</dt>
        <dd>
          <RelativeTime at={row.updatedAt} /> by {nameOf(row.updatedById)}
        </dd>
      </dl>
    </>
  )
}

function DescriptionFacts({ described }: { described: Described }) {
  if (!described.text) return <ClosedDescription why={described.why} />
  const { description, tags } = described.text
  return (
    <>
      {description !== '' && <Text style={{ whiteSpace: 'pre-wrap' }}>{description}</Text>}
      {tags.length > 0 && (
        <Group gap="xs" mt="xs">
          {tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </Group>
      )}
    </>
  )
}
