"""Business figures of products: velocity, competition, stock-outs, turnover, profit. Local and pure."""
