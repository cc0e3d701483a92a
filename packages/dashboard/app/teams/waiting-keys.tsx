import { Alert, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Suspense } from 'react'
import { CompleteDialog } from '../granting/lazy.ts'
import { IconHourglass } from '../ui/icons.ts'
import { useDialog } from '../ui/use-dialog.ts'
import { missingQuery } from './queries.ts'
import { countText } from './words.ts'

/** Tells admins how many keys wait, of one team or of all teams and plans, and lets them grant the keys that they hold. */
export function WaitingKeys({ teamId }: { teamId?: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const filter = teamId === undefined ? {} : { teamId }
  const { data } = useQuery({ ...missingQuery(org.id, filter), enabled: org.role !== 'member' })
  const completing = useDialog()
  const count = data?.missing.length ?? 0
  const held = data?.missing.filter((one) => one.held).length ?? 0
  return (
    <>
      {data && count > 0 && (
        <Alert
          color="yellow"
          variant="light"
          mb="md"
          icon={<IconHourglass size={18} />}
          title={`${data.hasMore ? 'At least ' : ''}${countText(count, 'key')} ${count === 1 ? 'waits' : 'wait'}`}
        >
          {held === 0
            ? 'You hold none of these keys. Another admin must grant them.'
            : `You hold ${held === count ? 'all of them' : `${held} of them`}. Grant them after a comparison of words.`}{' '}
          {held > 0 && (
            <Button size="compact-sm" variant="default" onClick={() => completing.open()}>
              Complete
            </Button>
          )}
        </Alert>
      )}
      <Suspense>
        {completing.show((onClose) => (
          <CompleteDialog {...(teamId === undefined ? {} : { teamId })} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}
