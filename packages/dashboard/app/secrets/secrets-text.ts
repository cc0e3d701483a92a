export const secretsText = (count: number) => (count === 1 ? '1 secret' : `${count} secrets`)
