import { Text, Textarea } from '@mantine/core'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { type AccessRequest, requestQueries } from './queries.ts'

export function DeclineRequest(props: { orgId: string; request: AccessRequest; name: string; onClose: () => void }) {
  const { orgId, request, name, onClose } = props
  const form = useApiForm('accessRequests', 'decline', { reason: '' })
  const decline = ({ reason }: { reason: string }) =>
    api.accessRequests.decline({
      params: { orgId, accessRequestId: request.id },
      body: reason === '' ? {} : { reason },
    })
  return (
    <FormDialog
      title={`Decline the request of ${name}?`}
      submit="Decline"
      form={form}
      onClose={onClose}
      onSubmit={decline}
      stale={[requestQueries(orgId)]}
    >
      <Text size="sm">Keys that were granted meanwhile stay with {name}.</Text>
      <Textarea
        label="Reason"
        description={`Optional. ${name} reads it, and the server can read it.`}
        data-autofocus
        {...form.getInputProps('reason')}
      />
    </FormDialog>
  )
}
