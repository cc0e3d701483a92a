import { TextInput, type TextInputProps } from '@mantine/core'

/**
 * The name of something, as the first field of a dialog.
 *
 * @example <NameField description="Where it is used." placeholder="backend" {...form.getInputProps('name')} />
 */
export const NameField = (props: TextInputProps) => (
  <TextInput label="Name" autoComplete="off" data-autofocus {...props} />
)
