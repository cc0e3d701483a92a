import { Alert, List as Items, Stack } from '@mantine/core'
import type { FalseShares } from './ceremony.ts'

export type NameOf = (id: string) => string

export const namesOf = (falseShares: FalseShares, nameOf: NameOf) =>
  falseShares.map(({ userId, shareIndex }) => `share ${shareIndex} of ${nameOf(userId)}`).join(', ')

/** Lists the custodians whose shares do not belong to the recovery key, and says what to do. */
export function FalseSharesNote({ falseShares, nameOf }: { falseShares: FalseShares; nameOf: NameOf }) {
  return (
    <Alert color="red" variant="light" role="alert" mt="sm" title="These shares do not belong to the recovery key">
      <Stack gap="xs">
        <Items size="sm">
          {falseShares.map((one) => (
            <Items.Item key={one.shareIndex}>{namesOf([one], nameOf)}</Items.Item>
          ))}
        </Items>
        Ask another custodian for a share, or have the request cancelled and ask again without these custodians.
      </Stack>
    </Alert>
  )
}
